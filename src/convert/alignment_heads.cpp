#include "convert/alignment_heads.h"

#include "convert/whisper.h"

namespace transcribe {

namespace {

struct Known {
    int n_layers, n_heads, n_vocab;  // of the decoder
    int n_pairs;
    int pairs[23][2];  // layer, head
};

// openai-whisper, __init__.py, _ALIGNMENT_HEADS. large-v1 has the sizes of v2.
// clang-format off
constexpr Known known_models[] = {
    // tiny.en
    {4, 6, 51864, 8, {{1, 0}, {2, 0}, {2, 5}, {3, 0}, {3, 1}, {3, 2}, {3, 3}, {3, 4}}},
    // tiny
    {4, 6, 51865, 6, {{2, 2}, {3, 0}, {3, 2}, {3, 3}, {3, 4}, {3, 5}}},
    // base.en
    {6, 8, 51864, 5, {{3, 3}, {4, 7}, {5, 1}, {5, 5}, {5, 7}}},
    // base
    {6, 8, 51865, 8, {{3, 1}, {4, 2}, {4, 3}, {4, 7}, {5, 1}, {5, 2}, {5, 4}, {5, 6}}},
    // small.en
    {12, 12, 51864, 19, {{6, 6}, {7, 0}, {7, 3}, {7, 8}, {8, 2}, {8, 5}, {8, 7}, {9, 0}, {9, 4},
     {9, 8}, {9, 10}, {10, 0}, {10, 1}, {10, 2}, {10, 3}, {10, 6}, {10, 11}, {11, 2}, {11, 4}}},
    // small
    {12, 12, 51865, 10, {{5, 3}, {5, 9}, {8, 0}, {8, 4}, {8, 7}, {8, 8}, {9, 0}, {9, 7}, {9, 9},
     {10, 5}}},
    // medium.en
    {24, 16, 51864, 18, {{11, 4}, {14, 1}, {14, 12}, {14, 14}, {15, 4}, {16, 0}, {16, 4},
     {16, 9}, {17, 12}, {17, 14}, {18, 7}, {18, 10}, {18, 15}, {20, 0}, {20, 3}, {20, 9},
     {20, 14}, {21, 12}}},
    // medium
    {24, 16, 51865, 6, {{13, 15}, {15, 4}, {15, 15}, {16, 1}, {20, 0}, {23, 4}}},
    // large-v2
    {32, 20, 51865, 23, {{10, 12}, {13, 17}, {16, 11}, {16, 12}, {16, 13}, {17, 15}, {17, 16},
     {18, 4}, {18, 11}, {18, 19}, {19, 11}, {21, 2}, {21, 3}, {22, 3}, {22, 9}, {22, 12},
     {23, 5}, {23, 7}, {23, 13}, {25, 5}, {26, 1}, {26, 12}, {27, 15}}},
    // large-v3
    {32, 20, 51866, 10, {{7, 0}, {10, 17}, {12, 18}, {13, 12}, {16, 1}, {17, 14}, {19, 11},
     {21, 4}, {24, 1}, {25, 6}}},
    // turbo
    {4, 20, 51866, 6, {{2, 4}, {2, 11}, {3, 3}, {3, 6}, {3, 11}, {3, 14}}},
};
// clang-format on

}  // namespace

std::vector<int> openai_alignment_heads(const WhisperConfig& config) {
    std::vector<int> flat;
    for (const Known& known : known_models) {
        bool same = known.n_layers == config.decoder.n_layers &&
                    known.n_heads == config.decoder.n_heads && known.n_vocab == config.n_vocab;
        for (int i = 0; same && i < known.n_pairs; i++) {
            flat.insert(flat.end(), {known.pairs[i][0], known.pairs[i][1]});
        }
    }
    return flat;
}

}  // namespace transcribe
