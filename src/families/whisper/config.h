// Whisper's facts as a model file states them (keys stt.whisper.*, stt.frontend.*,
// tokenizer.ggml.*).
#pragma once

#include "asr/types.h"
#include "audio/mel.h"
#include "families/whisper/net.h"
#include "families/whisper/rules.h"
#include "tensor/weights.h"
#include "text/tokenizer.h"

namespace transcribe::whisper {

struct Config {
    NetConfig net;
    MelSpec mel;  // filters and window come with the tensors
    SpecialTokens ids;
    std::vector<int> suppress, begin_suppress;
    std::vector<std::string> languages;  // codes, in the order of ids.languages
    // Heads of cross attention, of each decoder layer, that look where the speech is.
    std::vector<std::vector<int>> alignment_heads;
    ModelInfo info;
    bool multilingual() const { return languages.size() > 1; }
    int n_frames() const { return 2 * net.n_audio_ctx; }          // mel frames of a window
    int n_context_max() const { return net.n_text_ctx / 2 - 1; }  // tokens of previous text
    int n_tokens_max() const { return net.n_text_ctx / 2; }       // sampled tokens of a window
};

// What all parts of a session share.
struct Facts {
    const Config& config;
    const Tokenizer& tokenizer;
    const Mel& mel;
};

// The bytes of the text tokens.
std::string text_of(const Facts& facts, std::span<const int> tokens);

Config read_config(KvReader kv, const Tokenizer& tokenizer);

}  // namespace transcribe::whisper
