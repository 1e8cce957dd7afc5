// What a recognizer takes and gives. Values without behaviour; no ggml.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/audio_source.h"
#include "base/error.h"

namespace transcribe {

enum class Task { transcribe, translate };

struct Word {
    std::string text;  // with its leading space
    i64 t0_ms = 0, t1_ms = 0;
    float probability = 0;
};

struct Segment {
    int id = 0;
    i64 seek = 0;  // start of its window in frames of 10 ms, as the reference counts
    i64 t0_ms = 0, t1_ms = 0;
    std::string text;  // valid UTF-8, with its leading space
    std::vector<int> tokens;
    std::vector<Word> words;
    float temperature = 0;
    float avg_logprob = 0;
    float compression_ratio = 0;
    float no_speech_prob = 0;
};

struct Timings {  // milliseconds
    double load = 0, audio = 0, mel = 0, encode = 0, prefill = 0, step = 0, total = 0;
    int n_windows = 0, n_steps = 0, n_tokens = 0;
};

enum class Outcome { complete, truncated, too_long, invalid };

struct Transcript {
    std::string text;      // all segments joined, trimmed at both ends
    std::string language;  // code ("en"); "" where the family does not know
    float language_probability = 0;
    double duration_s = 0;
    std::vector<Segment> segments;
    Outcome outcome = Outcome::complete;
    Error error;       // of this recording, when outcome is invalid or too_long
    std::string note;  // what a user should know: a warning in a sentence, or empty
    Timings timings;
};

struct Options {
    std::string language;  // code or English name; "" or "auto" detects
    Task task = Task::transcribe;
    bool timestamps = true;
    bool condition_on_previous_text = true;
    std::string initial_prompt;
    float temperature = 0;
    float temperature_increment = 0.2f;  // of the ladder; 0 turns it off
    float compression_ratio_threshold = 2.4f;
    float logprob_threshold = -1.0f;
    float no_speech_threshold = 0.6f;
    unsigned seed = 0;
    // Called on the thread that runs, as segments become final: index of the recording, segment.
    std::function<void(int, const Segment&)> on_segment;
    // Progress of one recording: index, seconds done, seconds in all (0: not known).
    std::function<void(int, double, double)> on_progress;
};

struct ModelInfo {
    std::string arch, name, variant, license;
    std::string device;                  // where its weights are
    std::vector<std::string> languages;  // codes
    bool translates = false;
    bool detects_language = false;
    bool has_timestamps = false;
    i64 n_params = 0;
};

}  // namespace transcribe
