// One recording on its way through windows of 30 s (whisper/transcribe.py): where it stands, what
// is context, what has been said. Host code only; the worker computes between next_window() and
// accept().
#pragma once

#include "asr/types.h"
#include "families/whisper/decoder.h"

namespace transcribe::whisper {

class LongForm {
  public:
    struct Facts {
        const Config& config;
        const Tokenizer& tokenizer;
        const Mel& mel;
    };
    // `index`: of the recording, for callbacks.
    LongForm(const Facts& facts, const Options& options, AudioSource& source, int index);
    // Reads the recording once. A fault is kept in the transcript, and the recording is done.
    void open();
    bool done() const { return done_; }
    // The mel of the next window with sound, [n_mels, n_frames]; false when there is none left.
    // Windows without sound are passed over: nothing is decoded, nothing can be invented.
    bool next_window(std::span<float> mel);
    bool needs_language() const { return needs_language_; }
    void set_language(const std::vector<float>& probabilities);
    Prompt prompt() const;
    // Whether a text is to be decoded again at a higher temperature.
    bool needs_retry(const WindowText& text) const;
    void accept(const WindowText& text);
    // Ends early: what was said stays.
    void interrupt(const Error& error);
    Transcript take(const Timings& timings);

  private:
    void fail(const Error& error);
    i64 window_frames() const;  // frames of content in the window
    void add_segments(const WindowText& text);
    void report_progress() const;
    std::string text_of(std::span<const int> tokens) const;
    float compression_ratio_of(const WindowText& text) const;

    Facts facts_;
    const Options& options_;
    WhisperMel mel_;
    int index_;
    int language_ = 0;  // index among Config::languages
    bool needs_language_ = false, done_ = false;
    i64 seek_ = 0;              // frames
    std::vector<int> context_;  // tokens said so far, the initial prompt first
    size_t context_from_ = 0;   // what stands before is no context any more
    Transcript transcript_;
};

}  // namespace transcribe::whisper
