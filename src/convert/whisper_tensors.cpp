// The one table of Whisper's tensors: our name, shape and kind, and what two sources call it.
//
// What bites: CTranslate2 fuses q, k, v (self attention) and k, v (cross attention) along the first
// axis; there a row takes one part of n. Its fused bias holds zeros for k, which has no bias.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <span>

#include "base/text.h"
#include "convert/json.h"
#include "convert/mel_filters.h"
#include "convert/whisper.h"

namespace transcribe {

namespace {

enum class Kind { conv, norm, linear, unbiased, attention_output, embedding, positions };

// One weight and, for most kinds, its bias. The weight's shape, slowest first: d width, f
// feed-forward, m mels, v vocabulary, s source and t target positions, digits themselves. The bias
// has the first.
struct Row {
    const char* ours;
    const char* shape;
    Kind kind;
    const char* hugging_face;
    const char* ctranslate2;
    int part = 0, n_parts = 1;  // of CTranslate2's tensor
};

// clang-format off
using enum Kind;
constexpr Row encoder_rows[] = {
    {"conv.0",     "dm3", conv,      "conv1",           "conv1"},
    {"conv.1",     "dd3", conv,      "conv2",           "conv2"},
    {"pos_emb",    "sd",  positions, "embed_positions", "position_encodings"},
    {"final_norm", "d",   norm,      "layer_norm",      "layer_norm"},
};

constexpr Row decoder_rows[] = {
    {"token_embd", "vd", embedding, "embed_tokens",    "embeddings"},
    {"pos_emb",    "td", positions, "embed_positions", "position_encodings"},
    {"final_norm", "d",  norm,      "layer_norm",      "layer_norm"},
};

constexpr Row encoder_block_rows[] = {
    {"norm_attn", "d",  norm,             "self_attn_layer_norm", "self_attention/layer_norm"},
    {"attn.q",    "dd", linear,           "self_attn.q_proj",     "self_attention/linear_0", 0, 3},
    {"attn.k",    "dd", unbiased,         "self_attn.k_proj",     "self_attention/linear_0", 1, 3},
    {"attn.v",    "dd", linear,           "self_attn.v_proj",     "self_attention/linear_0", 2, 3},
    {"attn.out",  "dd", attention_output, "self_attn.out_proj",   "self_attention/linear_1"},
    {"norm_ffn",  "d",  norm,             "final_layer_norm",     "ffn/layer_norm"},
    {"ffn.fc1",   "fd", linear,           "fc1",                  "ffn/linear_0"},
    {"ffn.fc2",   "df", linear,           "fc2",                  "ffn/linear_1"},
};

constexpr Row decoder_block_rows[] = {
    {"norm_self",      "d",  norm,     "self_attn_layer_norm", "self_attention/layer_norm"},
    {"self_attn.q",    "dd", linear,   "self_attn.q_proj",     "self_attention/linear_0", 0, 3},
    {"self_attn.k",    "dd", unbiased, "self_attn.k_proj",     "self_attention/linear_0", 1, 3},
    {"self_attn.v",    "dd", linear,   "self_attn.v_proj",     "self_attention/linear_0", 2, 3},
    {"self_attn.out",  "dd", attention_output, "self_attn.out_proj", "self_attention/linear_1"},
    {"norm_cross",     "d",  norm,     "encoder_attn_layer_norm", "attention/layer_norm"},
    {"cross_attn.q",   "dd", linear,   "encoder_attn.q_proj",  "attention/linear_0"},
    {"cross_attn.k",   "dd", unbiased, "encoder_attn.k_proj",  "attention/linear_1", 0, 2},
    {"cross_attn.v",   "dd", linear,   "encoder_attn.v_proj",  "attention/linear_1", 1, 2},
    {"cross_attn.out", "dd", attention_output, "encoder_attn.out_proj", "attention/linear_2"},
    {"norm_ffn",       "d",  norm,     "final_layer_norm",     "ffn/layer_norm"},
    {"ffn.fc1",        "fd", linear,   "fc1",                  "ffn/linear_0"},
    {"ffn.fc2",        "df", linear,   "fc2",                  "ffn/linear_1"},
};
// clang-format on

bool has_bias(Kind kind) {
    return kind != Kind::unbiased && kind != Kind::embedding && kind != Kind::positions;
}

Bucket bucket_of(Kind kind) {
    switch (kind) {
        case Kind::conv: return Bucket::conv;
        case Kind::embedding: return Bucket::embedding;
        case Kind::attention_output: return Bucket::attention_output;
        case Kind::linear:
        case Kind::unbiased: return Bucket::linear;
        default: return Bucket::exact;
    }
}

const char* ctranslate2_leaf(Kind kind, bool bias) {
    if (kind == Kind::norm) return bias ? "/beta" : "/gamma";
    if (kind == Kind::positions) return "/encodings";
    return bias ? "/bias" : "/weight";
}

// The output head, which is the token embedding and not written again.
constexpr std::string_view tied_heads[] = {"proj_out.weight", "decoder/projection/weight"};

class Planner {
  public:
    Planner(const Checkpoint& checkpoint, const WhisperConfig& config)
        : from_(checkpoint),
          config_(config),
          hugging_face_(checkpoint.format == Checkpoint::Format::hugging_face) {
        // Saved without the language-model head, the names lack their first word.
        bool bare = !checkpoint.find("model.decoder.embed_tokens.weight");
        root_ = hugging_face_ && !bare ? "model." : "";
    }

    Expected<std::vector<PlannedTensor>> plan() {
        side("encoder", "enc", config_.encoder, encoder_rows, encoder_block_rows);
        side("decoder", "dec", config_.decoder, decoder_rows, decoder_block_rows);
        check_heads();
        for (const auto& [name, tensor] : from_.tensors) {
            if (tensor.shape.empty() || used_.contains(name)) continue;
            problems_.add(
                fmt::format("the tensor {} is not one of Whisper's", printable(name, 80)));
        }
        TRY(problems_.done(Code::bad_model, printable(from_.directory, 1000)));
        return std::move(out_);
    }

  private:
    using Rows = std::span<const Row>;

    void side(const char* theirs, const char* ours, const WhisperConfig::Side& sizes, Rows top,
              Rows block) {
        std::string prefix = fmt::format("{}{}{}", root_, theirs, hugging_face_ ? "." : "/");
        std::string our_prefix = fmt::format("{}.", ours);
        for (const Row& row : top) add(row, prefix, our_prefix, sizes);
        for (int i = 0; i < sizes.n_layers; i++) {
            std::string at = hugging_face_ ? fmt::format("{}layers.{}.", prefix, i)
                                           : fmt::format("{}layer_{}/", prefix, i);
            std::string our_at = fmt::format("{}blocks.{}.", our_prefix, i);
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
            if (bias && !has_bias(row.kind)) break;
            PlannedTensor tensor;
            tensor.name = our_prefix + row.ours + (bias ? ".bias" : ".weight");
            tensor.bucket = bias ? Bucket::exact : bucket_of(row.kind);
            tensor.shape = bias ? std::vector{shape[0]} : shape;
            place(tensor, row,
                  hugging_face_ ? prefix + row.hugging_face + (bias ? ".bias" : ".weight")
                                : prefix + row.ctranslate2 + ctranslate2_leaf(row.kind, bias));
        }
    }

    void place(PlannedTensor& tensor, const Row& row, const std::string& source_name) {
        int n_parts = hugging_face_ ? 1 : row.n_parts;
        std::vector<i64> wanted = tensor.shape;
        wanted[0] *= n_parts;
        tensor.source = take(source_name, wanted);
        if (!tensor.source) return;
        tensor.first = n_parts > 1 ? tensor.source->n_elements() / n_parts * row.part : 0;
        out_.push_back(std::move(tensor));
    }

    const SourceTensor* take(const std::string& name, const std::vector<i64>& shape) {
        const SourceTensor* source = from_.find(name);
        used_.insert(name);
        if (!source) {
            problems_.add(fmt::format("the tensor {} is missing", name));
        } else if (source->shape != shape) {
            problems_.add(fmt::format("the tensor {} is {}, not {}", name,
                                      shape_text(source->shape), shape_text(shape)));
        } else if (source->type == SourceType::i16 || source->type == SourceType::i32) {
            problems_.add(fmt::format("the tensor {} holds integers of an unknown scale", name));
        } else {
            return source;
        }
        return nullptr;
    }

    void check_heads() {
        const SourceTensor* embedding =
            from_.find(hugging_face_ ? root_ + "decoder.embed_tokens.weight"
                                     : std::string("decoder/embeddings/weight"));
        for (std::string_view name : tied_heads) {
            const SourceTensor* head = from_.find(name);
            if (!head || !embedding) continue;
            used_.emplace(name);
            if (std::ranges::equal(head->data, embedding->data)) continue;
            problems_.add(fmt::format("the output head {} is not the token embedding", name));
        }
    }

    const Checkpoint& from_;
    const WhisperConfig& config_;
    bool hugging_face_;
    std::string root_;
    std::set<std::string, std::less<>> used_;
    std::vector<PlannedTensor> out_;
    Problems problems_;
};

// The filterbank of preprocessor_config.json, which has stood there as [mels][bins] and as
// [bins][mels].
Expected<std::vector<float>> stored_filters(const Checkpoint& from, int n_mels, int n_bins) {
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

}  // namespace

Expected<std::vector<PlannedTensor>> plan_whisper_tensors(const Checkpoint& from,
                                                          const WhisperConfig& config) {
    MelFilterSpec spec{.n_mels = config.n_mels};
    int n_bins = spec.n_fft / 2 + 1;
    TRY_SET(auto filters, stored_filters(from, config.n_mels, n_bins));
    if (filters.empty()) filters = slaney_filters(spec);
    TRY_SET(auto tensors, Planner(from, config).plan());
    tensors.push_back({.name = "frontend.mel_filterbank",
                       .bucket = Bucket::exact,
                       .shape = {config.n_mels, n_bins},
                       .computed = std::move(filters)});
    tensors.push_back({.name = "frontend.window",
                       .bucket = Bucket::exact,
                       .shape = {spec.n_fft},
                       .computed = periodic_hann(spec.n_fft)});
    return tensors;
}

}  // namespace transcribe
