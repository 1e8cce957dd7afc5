// When the tokens of a text were spoken, from where the heads of a decoder's attention looked while
// it read them (openai-whisper, timing.py).
//
// scores -> softmax over frames -> every frame normalized over the tokens -> median over frames ->
// mean over heads -> cheapest monotonic path (dynamic time warping) -> first frame of each token.
//
// What bites: ties of the path go as in the reference, to the left neighbour; its costs are F32.
#pragma once

#include <span>
#include <vector>

namespace transcribe {

// Scores before the softmax, [n_frames, n_tokens, n_heads], the fastest axis first.
struct ScoreShape {
    int n_frames, n_tokens, n_heads;
};

// How well each token goes with each frame: [n_frames, n_tokens].
std::vector<float> attention_map(std::vector<float> scores, const ScoreShape& shape);

// The median of each value and its three neighbours on both sides, mirrored at the ends; a row of
// three values or fewer stays as it is. `out` must not overlap `row`.
void median_of_7(std::span<const float> row, std::span<float> out);

// The path of least cost from the first token and frame to the last of both, `cost` [n_frames,
// n_tokens]: for each token the first frame on it.
std::vector<int> first_frames(std::span<const float> cost, int n_tokens);

// Both together, for some of the tokens that were read: the frame at which each begins. The others
// (what frames a text) only count for what is usual at a frame.
struct TokenRange {
    int first, n;
};
std::vector<int> align_tokens(std::vector<float> scores, const ScoreShape& shape, TokenRange of);

}  // namespace transcribe
