// Canary-Qwen's facts as a model file states them (keys stt.canary_qwen.*, stt.frontend.*,
// tokenizer.ggml.*).
#pragma once

#include "asr/types.h"
#include "blocks/causal_lm.h"
#include "families/canary_qwen/audio_config.h"
#include "text/tokenizer.h"

namespace transcribe::canary_qwen {

constexpr i64 piece_ms_max = 40000;  // what the model was trained on

struct Config {
    AudioConfig audio;
    CausalLmSpec lm;
    int n_positions = 0;  // tokens that the language model can tell apart
    int audio_locator = 0, im_start = 0, im_end = 0;
    ModelInfo info;
};

// Errors: bad_model.
Expected<std::unique_ptr<const Tokenizer>> read_tokenizer(Loader& loader);
// `kv` at the root. Faults go to its Problems.
Config read_config(KvReader kv, const Tokenizer& tokenizer);

// Tokens that the text of a piece may have: nobody says more in that time.
int n_text_tokens_max(i64 ms);
// The longest piece that fits `n_ctx` tokens, beside `n_prompt` of the prompt and its text; 0:
// none.
i64 max_audio_ms(int n_ctx, int n_prompt);

}  // namespace transcribe::canary_qwen
