// What a recognizer takes and gives. Values without behaviour; no ggml.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/audio_source.h"
#include "base/error.h"
#include "base/rounding.h"

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
    std::vector<float> token_probabilities;  // [tokens], as they were picked
    std::vector<Word> words;                 // where they were asked for
    float temperature = 0;
    float avg_logprob = 0;
    float compression_ratio = 0;
    float no_speech_prob = 0;
};

struct Timings {  // milliseconds
    double load = 0, audio = 0, mel = 0, encode = 0, prefill = 0, step = 0, align = 0, total = 0;
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

// What a language model says to a text.
struct Answer {
    std::string text;
    std::vector<int> tokens;
    std::string note;  // why it is not complete; empty: it is
};

// A part of a recording, in milliseconds of it.
struct TimeSpan {
    i64 t0_ms = 0, t1_ms = 0;
};

// What is to be transcribed.
struct Recording {
    AudioSource* audio;
    // Empty: the whole, from window to window, each of which may see the text before it. Else
    // these parts, in order, independent of each other.
    std::vector<TimeSpan> pieces;
};

// Which parts of a recording count as speech (decode/speech_regions.h).
struct VadOptions {
    float threshold = 0.5f;    // probability from which on somebody speaks
    int min_speech_ms = 250;   // shorter sounds are none
    int min_silence_ms = 200;  // shorter pauses end no region: between words they last 50 to 200 ms
    int speech_pad_ms = 30;    // added at both ends of a region
    float max_speech_s = 0;    // longer regions are cut, where possible in a pause; 0: never
    bool operator==(const VadOptions&) const = default;
};

struct Options {
    std::string language;  // code or English name; "" or "auto" detects
    Task task = Task::transcribe;
    bool timestamps = true;
    // What the decoder sees before a window.
    // Windows see the text before them. None: so they do, but a long recording may be cut into
    // pieces that are decoded side by side (SessionOptions::batch_size).
    std::optional<bool> condition_on_previous_text;
    std::string initial_prompt;
    bool carry_initial_prompt = false;        // before every window, not only the first
    std::string hotwords;                     // names and words to expect, before every window
    std::string prefix;                       // how the text of the first window begins
    std::vector<TimeSpan> clips;              // the parts to transcribe, in order; empty: all
    bool detect_language_per_window = false;  // for recordings that change language
    std::optional<VadOptions> vad;            // only what is speech is heard; none: all of it
    // Search.
    int beam_size = 0;  // at temperature 0; 0 is greedy
    float patience = 1.0f;
    std::optional<float> length_penalty;  // none: the mean log probability decides
    int best_of = 5;                      // texts sampled above temperature 0
    float temperature = 0;
    float temperature_increment = 0.2f;  // of the ladder; 0 turns it off
    float compression_ratio_threshold = 2.4f;
    float logprob_threshold = -1.0f;
    float no_speech_threshold = 0.6f;
    unsigned seed = 0;
    // Tokens never to say; none: the model's own list. Of the list -1 stands for that.
    std::optional<std::vector<int>> suppress_tokens;
    bool suppress_blank = true;
    float max_initial_timestamp_s = 1.0f;
    int max_tokens = 0;       // of a window; 0: the model's limit
    bool one_window = false;  // what follows the first window with text is left for another time
    // Words.
    bool word_timestamps = false;
    float hallucination_silence_threshold_s = 0;  // 0: off
    std::string prepend_punctuations = "\"'\u201c\u00bf([{-";
    std::string append_punctuations = "\"'.\u3002,\uff0c!\uff01?\uff1f:\uff1a\u201d)]}\u3001";
    // Called on the thread that runs, as segments become final: index of the recording, segment.
    std::function<void(int, const Segment&)> on_segment;
    // Progress of one recording: index, seconds done, seconds in all (0: not known).
    std::function<void(int, double, double)> on_progress;
};

struct ModelInfo {
    std::string arch, name, variant, license;
    std::string device;                  // where its weights are
    Rounding rounding = Rounding::none;  // of what it multiplies
    std::vector<std::string> languages;  // codes
    bool translates = false;
    bool detects_language = false;
    bool has_timestamps = false;  // of segments
    bool has_words = false;       // times of words, on which streaming stands as well
    // What it hears at once, in ms: a longer recording must come to it in pieces. 0: any length.
    i64 piece_ms_max = 0;
    i64 max_audio_ms = 0;  // of a piece, with all the context that the model has; 0: any length
    i64 n_params = 0;
};

// Of one session.
struct Limits {
    i64 max_audio_ms = 0;        // of a piece, with the context of this session; 0: any length
    size_t cache_bytes_max = 0;  // what its key-value caches can grow to
};

}  // namespace transcribe
