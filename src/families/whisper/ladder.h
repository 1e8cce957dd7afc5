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
    bool looping = false;   // and therefore given up
    bool overruns = false;  // goes on where the recording has ended
    bool full = false;      // as long as it may be: some of it may be missing
};

class Ladder {
  public:
    // `window_s`: seconds of sound in the window.
    Ladder(const Options& options, double window_s);
    // The temperature of the next try; none when the last text is good or was the last try.
    std::optional<float> next() const;
    // What the rows of a try said; at least one text.
    void add(const std::vector<WindowText>& texts);
    // Whether the window holds no speech: silence is likely, and the first text is not. Drawn texts
    // are improbable by nature, and speech that was hard to decode would be lost. Beyond the
    // reference, where there are several tries: silence is very likely and the first text is a loop
    // (of noise the model says the same again and again, and is sure of it), silence is half as
    // likely as that and the first text goes on behind the end of the recording, or there is less
    // than a second of sound, and silence is likely or no try gave a good text.
    bool silent() const;
    // The good text; where none is, the one of most worth, loops last.
    const WindowText& best() const;

  private:
    bool improbable(const WindowText& text) const {
        return text.avg_logprob < options_.logprob_threshold;
    }
    bool repetitive(const WindowText& text) const {
        return text.looping || text.compression_ratio > options_.compression_ratio_threshold;
    }
    float worth(const WindowText& text) const;
    const WindowText& best_of(const std::vector<WindowText>& texts) const;
    bool good(const WindowText& text) const { return !improbable(text) && !repetitive(text); }

    const Options& options_;
    double window_s_;
    std::vector<float> temperatures_;
    std::vector<WindowText> tries_;  // the best text of each
};

}  // namespace transcribe::whisper
