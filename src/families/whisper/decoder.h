// Decoding of windows: encode, prompt, then one step after another until every row has ended.
//
// A session owns one. The caches hold `n_windows` recordings' memories, and as many rows of text;
// the graph of a step is built once for each 256 cached tokens and run again and again.
#pragma once

#include <random>

#include "asr/types.h"
#include "decode/rules.h"
#include "families/whisper/config.h"

namespace transcribe::whisper {

struct Prompt {
    std::vector<int> tokens;
    int sot_at = 0;  // where start-of-transcript stands: no-speech is read there
};

struct WindowText {           // whisper/decoding.py, DecodingResult
    std::vector<int> tokens;  // without end-of-text
    float sum_logprob = 0;    // end-of-text included
    float avg_logprob = 0;    // sum / (tokens + 1)
    float no_speech_prob = 0;
    float temperature = 0;
};

class WindowDecoder {
  public:
    static Expected<std::unique_ptr<WindowDecoder>> make(Compute&, const Net&, const Config&,
                                                         int n_windows_max);
    // mels [n_mels, n_frames, n_windows] -> the memories of rows 0 ... n_windows - 1.
    Status encode(const std::vector<float>& mels, int n_windows);
    // Probability of each language (order of Config::languages) for each encoded window.
    Expected<std::vector<std::vector<float>>> languages(int n_windows);
    // Texts of the windows in `rows`, one prompt each; greedy at temperature 0, else sampled.
    struct Search {
        const LogitRule& rule;
        float temperature;
        std::mt19937& random;
    };
    Expected<std::vector<WindowText>> decode(std::span<const Prompt> prompts, KvCache::Rows rows,
                                             const Search& search);
    Timings timings;

    WindowDecoder(Compute&, const Net&, const Config&, KvCache self, KvCache memory);

  private:
    struct Rows;  // the texts under way
    Expected<std::span<float>> feed_prompts(std::span<const Prompt> prompts, StepFeed& feed);
    Expected<std::span<float>> feed_step(const std::vector<std::vector<int>>& tokens,
                                         StepFeed& feed);
    void build(const StepShape& shape);

    Compute& compute_;
    const Net& net_;
    const Config& config_;
    KvCache self_, memory_;
    KvCache::Rows rows_{0, 0};
    StepInputs in_;  // of the graph under way
    Tensor logits_;  // [V, P]
};

}  // namespace transcribe::whisper
