// Canary-Qwen's sizes: config.json of the model and of its language model. Keys that a file lacks
// have NeMo's defaults; what NeMo can be told and this program does not do is refused.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "convert/canary_qwen.h"
#include "convert/json.h"

namespace transcribe {

namespace {

constexpr int n_layers_max = 256, n_heads_max = 256, width_max = 1 << 16, n_vocab_max = 1 << 20;

Json object_at(const Json& json, const char* key) {
    return json.is_object() ? json.value(key, Json()) : Json();
}

void require(bool holds, const char* fault, Problems& problems) {
    if (!holds) problems.add(fault);
}

// Sizes that the front end has been written for.
float read_front(const Json& json, Problems& problems) {
    JsonReader at(json, problems, "perception.preprocessor");
    auto is = [&](const char* key, double fallback, double wanted) {
        if (at.f64_or(key, fallback) == wanted) return;
        problems.add(fmt::format("perception.preprocessor.{} is not {}", key, wanted));
    };
    is("sample_rate", 16000, 16000);
    is("features", 64, 128);
    is("n_fft", 512, 512);
    is("window_size", 0.02, 0.025);
    is("window_stride", 0.01, 0.01);
    is("mag_power", 2, 2);
    is("frame_splicing", 1, 1);
    is("log_zero_guard_value", 0x1p-24, 0x1p-24);
    auto says = [&](const char* key, const char* wanted) {
        if (at.str_or(key, wanted) == wanted) return;
        problems.add(fmt::format("perception.preprocessor.{} is not {}", key, wanted));
    };
    says("normalize", "per_feature");
    says("window", "hann");
    says("log_zero_guard_type", "add");
    require(at.flag_or("log", true), "perception.preprocessor.log is not true", problems);
    double emphasis = at.f64_or("preemph", 0.97);
    require(emphasis >= 0 && emphasis < 1, "perception.preprocessor.preemph is not below 1",
            problems);
    return static_cast<float>(emphasis);
}

// Variants of NeMo's encoder that this program does not have.
void check_encoder(const Json& json, Problems& problems) {
    JsonReader at(json, problems, "perception.encoder");
    auto says = [&](const char* key, const char* fallback, const char* wanted) {
        if (at.str_or(key, fallback) == wanted) return;
        problems.add(fmt::format("perception.encoder.{} is not {}", key, wanted));
    };
    auto is = [&](const char* key, bool fallback, bool wanted) {
        if (at.flag_or(key, fallback) == wanted) return;
        problems.add(fmt::format("perception.encoder.{} is not {}", key, wanted));
    };
    says("subsampling", "striding", "dw_striding");
    says("self_attention_model", "rel_pos", "rel_pos");
    says("conv_norm_type", "batch_norm", "batch_norm");
    says("att_context_style", "regular", "regular");
    is("xscaling", true, false);
    is("untie_biases", true, true);
    is("use_bias", true, true);
    is("causal_downsampling", false, false);
    for (const char* key : {"reduction", "conv_context_size"}) {
        require(object_at(json, key).is_null(),
                "a reduction or a context of the encoder's "
                "convolutions is not supported",
                problems);
    }
    const Json context = object_at(json, "att_context_size");
    require(context.is_null() || context == Json({-1, -1}),
            "perception.encoder.att_context_size is not [-1, -1]", problems);
}

void read_encoder(const Json& json, CanaryQwenConfig& c, Problems& problems) {
    JsonReader at(json, problems, "perception.encoder");
    check_encoder(json, problems);
    c.n_layers = at.i32("n_layers", 1, n_layers_max);
    c.d = at.i32("d_model", 2, width_max);
    c.d_ff = c.d * std::clamp(at.maybe_i32("ff_expansion_factor").value_or(4), 1, 16);
    c.kernel = at.maybe_i32("conv_kernel_size").value_or(31);
    c.n_positions_max = std::max(1, at.maybe_i32("pos_emb_max_len").value_or(5000));
    int channels = at.maybe_i32("subsampling_conv_channels").value_or(-1);
    c.n_channels = channels == -1 ? c.d : channels;
    require(at.maybe_i32("feat_in").value_or(128) == 128, "perception.encoder.feat_in is not 128",
            problems);
    require(at.maybe_i32("subsampling_factor").value_or(4) == 8,
            "perception.encoder.subsampling_factor is not 8", problems);
    require(c.kernel > 0 && c.kernel < 128 && c.kernel % 2 == 1,
            "perception.encoder.conv_kernel_size is not an odd number below 128", problems);
    require(c.n_channels > 0 && c.n_channels <= width_max,
            "perception.encoder.subsampling_conv_channels is not a size", problems);
}

// The configuration has been seen with another number; the biases know.
void read_heads(const Checkpoint& from, CanaryQwenConfig& c, Problems& problems) {
    const SourceTensor* bias = from.find("perception.encoder.layers.0.self_attn.pos_bias_u");
    i64 n = bias && bias->shape.size() == 2 ? bias->shape[0] : 0;
    bool valid = n >= 1 && n <= n_heads_max && c.d % n == 0;
    require(valid, "pos_bias_u of the encoder is not [heads, width of a head]", problems);
    c.n_heads = valid ? static_cast<int>(n) : 1;
}

// alpha / r; 0 where there is none.
float read_lora(const Json& json, Problems& problems) {
    if (json.is_null()) return 0;
    JsonReader at(json, problems, "lora");
    int r = at.i32("r", 1, width_max);
    double alpha = at.f64_or("lora_alpha", 8);
    require(!at.flag_or("use_rslora", false) && !at.flag_or("use_dora", false),
            "variants of LoRA (rslora, dora) are not supported", problems);
    require(alpha > 0, "lora.lora_alpha is not above 0", problems);
    return static_cast<float>(alpha / r);
}

// transformers 5 keeps it one level down.
float read_rope_theta(const Json& json, Problems& problems) {
    const Json parameters = object_at(json, "rope_parameters");
    double theta =
        JsonReader(json, problems, "the language model's config.json").f64_or("rope_theta", 0);
    if (theta == 0)
        theta = JsonReader(parameters, problems, "rope_parameters").f64_or("rope_theta", 0);
    require(theta >= 1, "rope_theta is missing in the language model's config.json", problems);
    const Json type = object_at(parameters, "rope_type");
    require(object_at(json, "rope_scaling").is_null() && (type.is_null() || type == "default"),
            "scaled rotary positions are not supported", problems);
    return static_cast<float>(theta);
}

CanaryQwenConfig::Lm read_lm(const Json& json, Problems& problems) {
    JsonReader at(json, problems, "the language model's config.json");
    CanaryQwenConfig::Lm lm;
    lm.n_layers = at.i32("num_hidden_layers", 1, n_layers_max);
    lm.d = at.i32("hidden_size", 1, width_max);
    lm.d_ff = at.i32("intermediate_size", 1, width_max);
    lm.n_heads = at.i32("num_attention_heads", 1, n_heads_max);
    lm.n_kv_heads = at.maybe_i32("num_key_value_heads").value_or(lm.n_heads);
    lm.d_head = at.maybe_i32("head_dim").value_or(lm.d / lm.n_heads);
    lm.n_positions = at.i32("max_position_embeddings", 1, 1 << 24);
    lm.n_vocab = at.i32("vocab_size", 1, n_vocab_max);
    lm.eps = static_cast<float>(at.f64_or("rms_norm_eps", 1e-6));
    lm.rope_theta = read_rope_theta(json, problems);
    require(at.str_or("model_type", "") == "qwen3", "the language model is not a Qwen3", problems);
    require(at.str_or("hidden_act", "silu") == "silu", "hidden_act is not silu", problems);
    require(!at.flag_or("attention_bias", false), "attention_bias is not supported", problems);
    require(!at.flag_or("use_sliding_window", false), "use_sliding_window is not supported",
            problems);
    require(at.flag_or("tie_word_embeddings", false),
            "the language model's head is not its embedding", problems);
    require(lm.n_kv_heads > 0 && lm.n_heads % lm.n_kv_heads == 0,
            "num_attention_heads is not a multiple of num_key_value_heads", problems);
    require(lm.d_head > 0 && lm.d_head <= width_max && lm.d_head % 2 == 0,
            "head_dim is not an even size", problems);
    return lm;
}

}  // namespace

Expected<std::string> canary_qwen_lm_directory(const Checkpoint& from) {
    if (!from.lm_directory.empty()) return from.lm_directory;
    for (const std::string& place : {from.path("llm_backbone"), from.directory}) {
        std::error_code ignored;
        auto tokenizer = native_path(place) / "tokenizer_config.json";
        auto config = native_path(place) / "config.json";
        if (std::filesystem::exists(tokenizer, ignored) && std::filesystem::exists(config, ignored))
            return place;
    }
    return Error{Code::not_found,
                 printable(from.directory, 1000) +
                     ": the configuration and tokenizer of its language model are not here; name "
                     "the folder of Qwen3-1.7B with --lm"};
}

Expected<CanaryQwenConfig> read_canary_qwen_config(const Checkpoint& from, const std::string& lm) {
    TRY_SET(auto config, read_json(from.path("config.json")));
    TRY_SET(auto lm_config, read_json(lm + "/config.json"));
    const Json perception = object_at(config, "perception");
    Problems problems;
    JsonReader at(config, problems, "config.json");
    CanaryQwenConfig c;
    c.pre_emphasis = read_front(object_at(perception, "preprocessor"), problems);
    read_encoder(object_at(perception, "encoder"), c, problems);
    read_heads(from, c, problems);
    c.lm = read_lm(lm_config, problems);
    c.lora_scale = read_lora(object_at(config, "lora"), problems);
    c.audio_tag = at.str_or("audio_locator_tag", "<|audioplaceholder|>");
    const Json adapter = object_at(perception, "modality_adapter");
    std::string target = JsonReader(adapter, problems, "modality_adapter").str_or("_target_", "");
    require(target.empty() || target.ends_with("IdentityConnector"),
            "the modality adapter is not an IdentityConnector", problems);
    require(!c.audio_tag.empty(), "audio_locator_tag is empty", problems);
    require(at.str_or("prompt_format", "qwen") == "qwen", "prompt_format is not qwen", problems);
    TRY(problems.done(Code::bad_model, printable(from.directory, 1000)));
    return c;
}

}  // namespace transcribe
