// The tokens and keys of a Canary-Qwen file (docs/families/canary_qwen.md): scalars first, the
// vocabulary last.
#include "convert/canary_qwen.h"

#include <fmt/format.h>

#include "base/text.h"
#include "convert/json.h"
#include "convert/plan_keys.h"

namespace transcribe {

namespace {

std::vector<GgufKey> general_keys(const std::string& name, const std::string& label) {
    Keys keys;
    keys.set("general.architecture", "canary_qwen");
    keys.set("general.name", name);
    keys.set("general.basename", "canary-qwen");
    keys.set("general.size_label", label);
    keys.set("general.license", "cc-by-4.0");
    keys.set("general.languages", std::vector<std::string>{"en"});
    keys.set("stt.variant", name);
    for (const char* can : {"lang_detect", "translate", "streaming", "timestamps"}) {
        keys.set(std::string("stt.capability.") + can, false);
    }
    return keys.list;
}

std::vector<GgufKey> encoder_keys(const CanaryQwenConfig& c) {
    Keys keys("stt.canary_qwen.encoder.");
    keys.set("n_layers", c.n_layers);
    keys.set("d_model", c.d);
    keys.set("n_heads", c.n_heads);
    keys.set("d_ff", c.d_ff);
    keys.set("conv_kernel", c.kernel);
    keys.set("subsampling_factor", 8);
    keys.set("subsampling_channels", c.n_channels);
    keys.set("pos_emb_max_len", c.n_positions_max);
    keys.set("use_bias", true);
    return keys.list;
}

std::vector<GgufKey> perception_keys(const CanaryQwenConfig& c, int audio_id) {
    Keys keys("stt.canary_qwen.perception.");
    keys.set("output_dim", c.lm.d);
    keys.set("audio_locator_id", audio_id);
    keys.set("audio_locator_tag", c.audio_tag);
    keys.set("has_proj_bias", true);
    return keys.list;
}

std::vector<GgufKey> lm_keys(const CanaryQwenConfig::Lm& lm) {
    Keys keys("stt.canary_qwen.decoder.");
    keys.set("n_layers", lm.n_layers);
    keys.set("hidden_size", lm.d);
    keys.set("intermediate_size", lm.d_ff);
    keys.set("n_heads", lm.n_heads);
    keys.set("n_kv_heads", lm.n_kv_heads);
    keys.set("head_dim", lm.d_head);
    keys.set("max_position_embeddings", lm.n_positions);
    keys.set("vocab_size", lm.n_vocab);
    keys.set("rms_norm_eps", lm.eps);
    keys.set("rope_theta", lm.rope_theta);
    keys.set("hidden_act", "silu");
    keys.set("tie_word_embeddings", true);
    return keys.list;
}

std::vector<GgufKey> frontend_keys(const CanaryQwenConfig& c) {
    Keys keys("stt.frontend.");
    keys.set("type", "mel");
    keys.set("sample_rate", 16000);
    keys.set("num_mels", 128);
    keys.set("n_fft", 512);
    keys.set("win_length", 400);
    keys.set("hop_length", 160);
    keys.set("window", "hann");
    keys.set("normalize", "per_feature");
    keys.set("dither", 0.0f);
    keys.set("pre_emphasis", c.pre_emphasis);
    keys.set("f_min", 0.0f);
    keys.set("f_max", 8000.0f);
    keys.set("pad_mode", "constant");
    keys.set("center", true);
    keys.set("mel_norm", "slaney");
    keys.set("log", true);
    return keys.list;
}

std::vector<GgufKey> tokenizer_keys(const CanaryQwenTokens& t) {
    Keys keys("tokenizer.ggml.");
    keys.set("model", "gpt2");
    keys.set("pre", "qwen2");
    keys.set("eos_token_id", t.end_of_text);
    keys.set("padding_token_id", t.padding);
    keys.set("add_bos_token", false);
    return keys.list;
}

std::vector<GgufKey> bulk_keys(CanaryQwenTokens t) {
    Keys keys("tokenizer.");
    keys.set("ggml.tokens", std::move(t.vocabulary.tokens));
    keys.set("ggml.token_type", std::move(t.vocabulary.types));
    keys.set("ggml.merges", std::move(t.vocabulary.merges));
    if (!t.chat_template.empty()) keys.set("chat_template", std::move(t.chat_template));
    return keys.list;
}

// A token is named by itself or by an object that holds it.
std::string token_text(const Json& config, const char* key, const char* fallback) {
    Json value = config.is_object() ? config.value(key, Json()) : Json();
    if (value.is_object()) value = value.value("content", Json());
    return value.is_string() ? value.get<std::string>() : fallback;
}

}  // namespace

Expected<CanaryQwenTokens> read_canary_qwen_tokens(const std::string& lm,
                                                   const CanaryQwenConfig& c) {
    CanaryQwenTokens out;
    TRY_SET(out.vocabulary, read_vocabulary(lm, Tokens::as_stated));
    TRY_SET(auto config, read_json_if_any(lm + "/tokenizer_config.json"));
    std::string end = token_text(config, "eos_token", "<|im_end|>");
    std::string padding = token_text(config, "pad_token", "<|endoftext|>");
    out.chat_template = token_text(config, "chat_template", "");
    SourceVocabulary& v = out.vocabulary;
    auto bad = [&](std::string fault) {
        return Error{Code::bad_model, printable(lm, 1000) + ": " + std::move(fault)};
    };
    for (const std::string& piece : {end, padding}) {
        if (!v.find(piece)) return bad(fmt::format("no token is {}", printable(piece, 40)));
    }
    // The reference adds its own token behind the last.
    int next = static_cast<int>(v.tokens.size());
    out.audio = v.find(c.audio_tag).value_or(next);
    v.set(out.audio, c.audio_tag, SourceVocabulary::control);
    if (v.tokens.size() > static_cast<size_t>(c.lm.n_vocab)) {
        return bad(fmt::format("{} tokens with {}, and the embedding has {} rows", v.tokens.size(),
                               printable(c.audio_tag, 40), c.lm.n_vocab));
    }
    v.fill_holes(c.lm.n_vocab);
    out.end_of_text = *v.find(end);
    out.padding = *v.find(padding);
    return out;
}

Expected<ModelPlan> plan_canary_qwen(const Checkpoint& from, const std::string& name) {
    TRY_SET(auto lm, canary_qwen_lm_directory(from));
    TRY_SET(auto config, read_canary_qwen_config(from, lm));
    TRY_SET(auto tokens, read_canary_qwen_tokens(lm, config));
    ModelPlan plan;
    plan.name = name;
    TRY_SET(plan.tensors, plan_canary_qwen_tensors(from, config));
    plan.reference = reference_dtype(plan.tensors);
    for (auto&& part : {general_keys(name, size_label(plan.tensors)), encoder_keys(config),
                        perception_keys(config, tokens.audio), lm_keys(config.lm),
                        frontend_keys(config), tokenizer_keys(tokens)}) {
        plan.keys.insert(plan.keys.end(), part.begin(), part.end());
    }
    plan.bulk_keys = bulk_keys(std::move(tokens));
    return plan;
}

}  // namespace transcribe
