// The tries at one window: greedy or beam first, then hotter and hotter until a text is good
// enough (openai-whisper, transcribe.py, decode_with_fallback).
#pragma once

#include <optional>
#include <vector>

#include "asr/types.h"

namespace transcribe::whisper {

struct WindowText {               // whisper/decoding.py, DecodingResult
    std::vector<int> tokens;      // without end-of-text
    std::vector<float> logprobs;  // [tokens]
    float avg_logprob = 0;        // of the sampled tokens and end-of-text
    float compression_ratio = 0;
    float no_speech_prob = 0;
    float temperature = 0;
};

class Ladder {
  public:
    explicit Ladder(const Options& options);
    // The temperature of the next try; none when the last text is good or was the last try.
    std::optional<float> next() const;
    void add(WindowText text);
    // Whether the window holds no speech: only the first try may say so. Drawn texts are improbable
    // by nature, and speech that was hard to decode would be lost.
    bool silent() const;
    // The good text; where none is, the likeliest of those that do not repeat themselves, else of
    // all.
    const WindowText& best() const;

  private:
    bool improbable(const WindowText& text) const {
        return text.avg_logprob < options_.logprob_threshold;
    }
    bool repetitive(const WindowText& text) const {
        return text.compression_ratio > options_.compression_ratio_threshold;
    }
    bool good(const WindowText& text) const { return !improbable(text) && !repetitive(text); }

    const Options& options_;
    std::vector<float> temperatures_;
    std::vector<WindowText> tries_;
};

}  // namespace transcribe::whisper
