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
    bool looping = false;  // and therefore given up
};

class Ladder {
  public:
    explicit Ladder(const Options& options);
    // The temperature of the next try; none when the last text is good or was the last try.
    std::optional<float> next() const;
    // What the rows of a try said; at least one text.
    void add(const std::vector<WindowText>& texts);
    // Whether the window holds no speech: only the first try may say so. Drawn texts are improbable
    // by nature, and speech that was hard to decode would be lost.
    bool silent() const;
    // The good text; where none is, the likeliest of those that do not repeat themselves, else the
    // likeliest of all.
    const WindowText& best() const;

  private:
    bool improbable(const WindowText& text) const {
        return text.avg_logprob < options_.logprob_threshold;
    }
    bool repetitive(const WindowText& text) const {
        return text.looping || text.compression_ratio > options_.compression_ratio_threshold;
    }
    const WindowText& best_of(const std::vector<WindowText>& texts) const;
    bool good(const WindowText& text) const { return !improbable(text) && !repetitive(text); }

    const Options& options_;
    std::vector<float> temperatures_;
    std::vector<WindowText> tries_;  // the best text of each
};

}  // namespace transcribe::whisper
