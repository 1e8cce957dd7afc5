#include "families/canary_qwen/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "families/model_keys.h"

namespace transcribe::canary_qwen {

namespace {

constexpr int n_layers_max = 256, n_heads_max = 256, d_head_max = 1024, d_max = 1 << 14;
constexpr int n_vocab_max = 1 << 20, n_positions_max = 1 << 20;
constexpr int n_tokens_min = 64, n_tokens_per_s = 10;

CausalLmSpec read_lm(KvReader kv) {
    CausalLmSpec spec;
    spec.n_layers = kv.i32("n_layers", 1, n_layers_max);
    spec.n_heads = kv.i32("n_heads", 1, n_heads_max);
    spec.n_kv_heads = kv.i32("n_kv_heads", 1, n_heads_max);
    spec.d = kv.i32("hidden_size", 1, d_max);
    spec.d_head = kv.i32("head_dim", 2, d_head_max);
    spec.d_ff = kv.i32("intermediate_size", 1, 8 * d_max);
    spec.n_vocab = kv.i32("vocab_size", 1, n_vocab_max);
    spec.eps = kv.f32_or("rms_norm_eps", 1e-6f);
    spec.rope_theta = kv.f32_or("rope_theta", 1e6f);
    spec.qk_norm = true;
    spec.tied = kv.flag_or("tie_word_embeddings", true);
    kv.require(spec.n_heads % spec.n_kv_heads == 0, "n_heads is a multiple of n_kv_heads");
    kv.require(spec.d_head % 2 == 0, "head_dim is even");
    kv.require(spec.eps > 0 && spec.eps < 1, "rms_norm_eps is between 0 and 1");
    kv.require(spec.rope_theta >= 1, "rope_theta is at least 1");
    kv.require(kv.str_or("hidden_act", "silu") == "silu", "hidden_act is silu");
    return spec;
}

ModelInfo read_info(KvReader kv, const Config& c) {
    ModelInfo info = read_general_info(kv, "canary_qwen", "canary-qwen");
    info.languages = kv.strs("general.languages");
    if (info.languages.empty()) info.languages = {"en"};
    info.has_timestamps = true;  // those of the pieces
    info.piece_ms_max = piece_ms_max;
    info.max_audio_ms = max_audio_ms(c.n_positions, 0);
    return info;
}

}  // namespace

Expected<std::unique_ptr<const Tokenizer>> read_tokenizer(Loader& loader) {
    KvReader kv = loader.keys("tokenizer.ggml.");
    Vocabulary v = vocabulary_of(kv, "qwen2");
    v.merges = kv.strs("merges");
    return make_tokenizer(std::move(v), loader);
}

Config read_config(KvReader kv, const Tokenizer& tokenizer) {
    KvReader at = kv.at("stt.canary_qwen"), dec = at.at("decoder"), ids = kv.at("tokenizer.ggml");
    Config c;
    c.audio = read_audio_config(kv);
    c.lm = read_lm(dec);
    c.n_positions = dec.i32("max_position_embeddings", 1, n_positions_max);
    c.audio_locator = read_special_token(at.at("perception"), tokenizer, "audio_locator_id",
                                         "<|audioplaceholder|>");
    c.im_start = read_special_token(ids, tokenizer, "im_start_token_id", "<|im_start|>");
    c.im_end = read_special_token(ids, tokenizer, "eos_token_id", "<|im_end|>");
    kv.require(c.lm.n_vocab == tokenizer.n_tokens(),
               fmt::format("vocab_size {} is the number of tokens {}", c.lm.n_vocab,
                           tokenizer.n_tokens()));
    c.info = read_info(kv, c);
    return c;
}

int n_text_tokens_max(i64 ms) {
    return n_tokens_min + static_cast<int>(n_tokens_per_s * ((ms + 999) / 1000));
}

// A second takes its 12.5 frames and the tokens of its text; what is left over of a second and of a
// frame counts as a whole one.
i64 max_audio_ms(int n_ctx, int n_prompt) {
    const i64 n_left = n_ctx - n_prompt - n_tokens_min - n_tokens_per_s - 1;
    return std::max<i64>(0, 2000 * n_left / (25 + 2 * n_tokens_per_s));
}

}  // namespace transcribe::canary_qwen
