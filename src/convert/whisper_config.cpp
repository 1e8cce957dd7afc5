// Whisper's sizes: from config.json (Hugging Face), or from the tensors' shapes (CTranslate2, whose
// config.json holds token ids only).
#include <fmt/format.h>

#include "base/text.h"
#include "convert/ctranslate2.h"
#include "convert/json.h"
#include "convert/whisper.h"

namespace transcribe {

namespace {

constexpr int n_layers_max = 256, width_max = 1 << 16, n_positions_max = 1 << 16;
constexpr int n_mels_max = 1024, n_vocab_max = 1 << 20;

// What no Whisper does and this program could not run.
void check_variants(const JsonReader& json, Problems& problems) {
    auto require = [&](bool holds, const char* fault) {
        if (!holds) problems.add(fault);
    };
    require(json.str_or("activation_function", "gelu") == "gelu",
            "activation_function is not gelu");
    require(!json.flag_or("scale_embedding", false), "scale_embedding is not supported");
    require(json.flag_or("tie_word_embeddings", true),
            "the output head must be the token embedding");
}

Expected<WhisperConfig> from_hugging_face(const Checkpoint& from) {
    std::string path = from.path("config.json");
    TRY_SET(auto config, read_json(path));
    Problems problems;
    JsonReader json(config, problems, "config.json");
    WhisperConfig out;
    auto side = [&](const char* layers, const char* heads, const char* ffn) {
        return WhisperConfig::Side{json.i32(layers, 1, n_layers_max), json.i32(heads, 1, width_max),
                                   json.i32(ffn, 1, width_max)};
    };
    out.encoder = side("encoder_layers", "encoder_attention_heads", "encoder_ffn_dim");
    out.decoder = side("decoder_layers", "decoder_attention_heads", "decoder_ffn_dim");
    out.d_model = json.i32("d_model", 1, width_max);
    out.n_mels = json.i32("num_mel_bins", 1, n_mels_max);
    out.n_vocab = json.i32("vocab_size", 1, n_vocab_max);
    out.n_source_positions = json.i32("max_source_positions", 1, n_positions_max);
    out.n_target_positions = json.i32("max_target_positions", 1, n_positions_max);
    check_variants(json, problems);
    TRY(problems.done(Code::bad_model, printable(from.directory, 1000)));
    return out;
}

class Ct2Sizes {
  public:
    Ct2Sizes(const Checkpoint& from, Problems& problems) : from_(from), problems_(problems) {}

    // Index `axis` of a tensor's shape.
    int dim(const std::string& name, size_t axis, int max) {
        const SourceTensor* tensor = from_.find(name);
        if (tensor && axis < tensor->shape.size() && tensor->shape[axis] >= 1 &&
            tensor->shape[axis] <= max) {
            return static_cast<int>(tensor->shape[axis]);
        }
        problems_.add(fmt::format("the tensor {} is missing or of a strange shape", name));
        return 1;
    }
    WhisperConfig::Side side(const std::string& name) {
        WhisperConfig::Side out;
        auto layer = [&](int i) { return fmt::format("{}/layer_{}/ffn/linear_0/weight", name, i); };
        while (out.n_layers < n_layers_max && from_.find(layer(out.n_layers))) out.n_layers++;
        out.ffn_dim = dim(layer(0), 0, width_max);
        out.n_heads = scalar_int(from_, name + "/num_heads").value_or(0);
        if (out.n_heads < 1) problems_.add(fmt::format("{}/num_heads is missing", name));
        return out;
    }
    // An attribute, where it is there, must have the one value that Whisper has.
    void require(const char* name, int value) {
        auto got = scalar_int(from_, name);
        if (got && *got != value) problems_.add(fmt::format("{} is {}, not {}", name, *got, value));
    }

  private:
    const Checkpoint& from_;
    Problems& problems_;
};

Expected<WhisperConfig> from_ctranslate2(const Checkpoint& from) {
    Problems problems;
    Ct2Sizes sizes(from, problems);
    WhisperConfig out;
    out.encoder = sizes.side("encoder");
    out.decoder = sizes.side("decoder");
    out.d_model = sizes.dim("encoder/conv1/weight", 0, width_max);
    out.n_mels = sizes.dim("encoder/conv1/weight", 1, n_mels_max);
    out.n_vocab = sizes.dim("decoder/embeddings/weight", 0, n_vocab_max);
    out.n_source_positions = sizes.dim("encoder/position_encodings/encodings", 0, n_positions_max);
    out.n_target_positions = sizes.dim("decoder/position_encodings/encodings", 0, n_positions_max);
    constexpr int gelu_erf = 3;
    sizes.require("encoder/activation", gelu_erf);
    sizes.require("decoder/activation", gelu_erf);
    sizes.require("decoder/pre_norm", 1);
    sizes.require("decoder/scale_embeddings", 0);
    sizes.require("decoder/alibi", 0);
    TRY(problems.done(Code::bad_model, printable(from.path("model.bin"), 1000)));
    return out;
}

}  // namespace

Expected<WhisperConfig> read_whisper_config(const Checkpoint& from) {
    bool hugging_face = from.format == Checkpoint::Format::hugging_face;
    TRY_SET(auto config, hugging_face ? from_hugging_face(from) : from_ctranslate2(from));
    bool divides = config.d_model % config.encoder.n_heads == 0 &&
                   config.d_model % config.decoder.n_heads == 0;
    if (divides) return config;
    return Error{Code::bad_model,
                 fmt::format("{}: the width {} is not a multiple of {} and {} heads",
                             printable(from.directory, 1000), config.d_model,
                             config.encoder.n_heads, config.decoder.n_heads)};
}

}  // namespace transcribe
