// Each tensor of a source finds its place in our file, and each place its tensor.
#include <fmt/format.h>

#include <span>

#include "base/text.h"
#include "convert/json.h"
#include "convert/mel_filters.h"
#include "convert/tensor_places.h"
#include "convert/whisper.h"
#include "convert/whisper_names.h"

namespace transcribe {

namespace {

namespace names = whisper_names;
using names::Row;

// The output head, which is the token embedding and not written again.
constexpr std::string_view tied_heads[] = {"proj_out.weight", "decoder/projection/weight"};

class Planner {
  public:
    Planner(const Checkpoint& checkpoint, const WhisperConfig& config)
        : from_(checkpoint),
          places_(checkpoint),
          config_(config),
          format_(static_cast<size_t>(checkpoint.format)),
          spelling_(names::spellings[format_]) {
        // Saved without the language-model head, the names lack their first word.
        root_ = checkpoint.find("model.decoder.embed_tokens.weight") ? "model." : "";
    }

    Expected<std::vector<PlannedTensor>> plan() {
        side("encoder", "enc.", config_.encoder, names::encoder_rows, names::encoder_block_rows);
        side("decoder", "dec.", config_.decoder, names::decoder_rows, names::decoder_block_rows);
        check_heads();
        TRY(places_.done("Whisper"));
        return std::move(out_);
    }

  private:
    using Rows = std::span<const Row>;

    void side(const char* theirs, const std::string& ours, const WhisperConfig::Side& sizes,
              Rows top, Rows block) {
        std::string prefix = root_ + theirs + spelling_.separator;
        for (const Row& row : top) add(row, prefix, ours, sizes);
        for (int i = 0; i < sizes.n_layers; i++) {
            std::string at = prefix + fmt::format(fmt::runtime(spelling_.block), i);
            std::string our_at = fmt::format("{}blocks.{}.", ours, i);
            for (const Row& row : block) add(row, at, our_at, sizes);
        }
    }

    i64 size_of(char letter, const WhisperConfig::Side& side) const {
        switch (letter) {
            case 'd': return config_.d_model;
            case 'f': return side.ffn_dim;
            case 'm': return config_.n_mels;
            case 'v': return config_.n_vocab;
            case 's': return config_.n_source_positions;
            case 't': return config_.n_target_positions;
            default: return letter - '0';
        }
    }

    void add(const Row& row, const std::string& prefix, const std::string& our_prefix,
             const WhisperConfig::Side& side) {
        std::vector<i64> shape;
        for (char letter : std::string_view(row.shape)) shape.push_back(size_of(letter, side));
        for (bool bias : {false, true}) {
            if (bias && !row.has_bias()) break;
            PlannedTensor tensor;
            tensor.name = our_prefix + row.ours + (bias ? ".bias" : ".weight");
            tensor.shape = bias ? std::vector{shape[0]} : shape;
            place(tensor, row, prefix + row.theirs[format_] + leaf(row.kind, bias));
        }
    }

    const char* leaf(names::Kind kind, bool bias) const {
        if (kind == names::Kind::positions) return spelling_.positions_leaf;
        return (kind == names::Kind::norm ? spelling_.norm_leaves : spelling_.leaves)[bias];
    }

    void place(PlannedTensor& tensor, const Row& row, const std::string& source_name) {
        bool fused = from_.format == Checkpoint::Format::ctranslate2;
        int n_parts = fused ? row.n_parts : 1;
        std::vector<i64> wanted = tensor.shape;
        wanted[0] *= n_parts;
        tensor.source = places_.take(source_name, wanted);
        if (!tensor.source) return;
        tensor.first = n_parts > 1 ? tensor.source->n_elements() / n_parts * row.part : 0;
        out_.push_back(std::move(tensor));
    }

    void check_heads() {
        const SourceTensor* embedding = from_.find(root_ + "decoder.embed_tokens.weight");
        if (!embedding) embedding = from_.find("decoder/embeddings/weight");
        for (std::string_view name : tied_heads) places_.take_tied_head(name, embedding);
    }

    const Checkpoint& from_;
    TensorPlaces places_;
    const WhisperConfig& config_;
    size_t format_;
    const names::Spelling& spelling_;
    std::string root_;
    std::vector<PlannedTensor> out_;
};

}  // namespace

// The filterbank of preprocessor_config.json, which has stood there as [mels][bins] and as
// [bins][mels].
Expected<std::vector<float>> read_whisper_filters(const Checkpoint& from, int n_mels) {
    constexpr int n_bins = MelFilterSpec{}.n_fft / 2 + 1;
    std::string path = from.path("preprocessor_config.json");
    TRY_SET(auto json, read_json_if_any(path));
    const Json filters = json.is_object() ? json.value("mel_filters", Json()) : Json();
    if (filters.is_null()) return std::vector<float>();
    auto bad = [&] {
        return Error{Code::bad_model,
                     fmt::format("{}: mel_filters is not a table of {} x {} numbers",
                                 printable(path, 1000), n_mels, n_bins)};
    };
    bool mels_first = filters.is_array() && filters.size() == static_cast<size_t>(n_mels);
    int n_rows = mels_first ? n_mels : n_bins, n_columns = mels_first ? n_bins : n_mels;
    if (!filters.is_array() || filters.size() != static_cast<size_t>(n_rows)) return bad();
    std::vector<float> out(static_cast<size_t>(n_mels) * static_cast<size_t>(n_bins));
    for (int r = 0; r < n_rows; r++) {
        const Json& row = filters[static_cast<size_t>(r)];
        if (!row.is_array() || row.size() != static_cast<size_t>(n_columns)) return bad();
        for (int c = 0; c < n_columns; c++) {
            const Json& value = row[static_cast<size_t>(c)];
            if (!value.is_number()) return bad();
            int at = mels_first ? r * n_bins + c : c * n_bins + r;
            out[static_cast<size_t>(at)] = value.get<float>();
        }
    }
    return out;
}

Expected<std::vector<PlannedTensor>> plan_whisper_tensors(const Checkpoint& from,
                                                          const WhisperConfig& config,
                                                          std::vector<float> filters) {
    MelFilterSpec spec{.n_mels = config.n_mels};
    if (filters.empty()) filters = slaney_filters(spec);
    TRY_SET(auto tensors, Planner(from, config).plan());
    tensors.push_back({.name = "frontend.mel_filterbank",
                       .shape = {config.n_mels, spec.n_fft / 2 + 1},
                       .computed = std::move(filters)});
    tensors.push_back(
        {.name = "frontend.window", .shape = {spec.n_fft}, .computed = periodic_hann(spec.n_fft)});
    return tensors;
}

}  // namespace transcribe
