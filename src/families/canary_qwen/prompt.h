// The conversation that the model was trained on, as tokens (chat format "qwen": no system turn):
//
//   <|im_start|>user\n Transcribe the following: AUDIO <|im_end|>\n <|im_start|>assistant\n
//
// What bites: the blank before the audio is a token of its own, since the locator stood there when
// text became tokens. Markers in a caller's own text are text, but for the locator.
#pragma once

#include <string_view>
#include <vector>

#include "blocks/lm_session.h"
#include "families/canary_qwen/config.h"

namespace transcribe::canary_qwen {

constexpr std::string_view trained_request = "Transcribe the following: ";

// Tokens on both sides of the audio.
struct Prompt {
    std::vector<int> before, after;
    int n_tokens() const { return static_cast<int>(before.size() + after.size()); }
    // With the numbers of an audio, [d, n_frames], in its place; they must outlive what comes back.
    LmPrompt with(std::span<const float> audio, i64 n_frames) const;
};

// Without audio: the user says `text`, whatever is in it.
std::vector<int> make_chat(const Config& config, const Tokenizer& tokenizer, std::string_view text);
// `request`: what the user says; "" is what the model was trained on. The audio stands where
// "<|audioplaceholder|>" does, or else at the end.
Prompt make_prompt(const Config& config, const Tokenizer& tokenizer, std::string_view request);

}  // namespace transcribe::canary_qwen
