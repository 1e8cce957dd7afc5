// A recording on its way through windows of 30 s (whisper/transcribe.py): where it stands, what is
// context, what has been said. Host code only; the worker computes between Passage::next_window()
// and Passage::accept().
//
// A recording is one passage, whose windows follow each other and see the text before them; or it
// was cut into pieces, and every piece is a passage of its own. Passages are independent, so that
// their windows can be decoded side by side.
#pragma once

#include <deque>

#include "asr/types.h"
#include "audio/mel.h"
#include "families/whisper/config.h"
#include "families/whisper/decoder.h"
#include "families/whisper/ladder.h"
#include "families/whisper/spoken.h"

namespace transcribe::whisper {

class LongForm;

// A stretch of a recording from window to window.
class Passage {
  public:
    struct Clip {  // frames of 10 ms
        i64 begin, end;
    };
    Passage(LongForm& whole, std::deque<Clip> clips);
    bool done() const { return clips_.empty(); }
    // The mel of the next window with sound, [n_mels, n_frames]; false when there is none left, and
    // the passage is done. Windows without sound are passed over: nothing is decoded, nothing can
    // be invented.
    Expected<bool> next_window(std::span<float> mel);
    // The window as the reference sees it when it asks for the language: silence, and not zeros,
    // behind the end. False when that is the same.
    Expected<bool> language_window(std::span<float> mel);
    // All that is left of a piece: no other window follows.
    bool is_last_window() const;
    i64 window_frames() const;  // frames of content in the present window
    double window_s() const;    // seconds of content in the present window
    bool needs_language() const;
    void set_language(const std::vector<float>& probabilities);
    Prompt prompt() const;
    // The text says again what its prompt says: it may have been read there and not heard.
    bool echoes(const WindowText& text) const;
    bool overruns(const WindowText& text) const { return spoken(text).overruns(); }
    // What was said up to here is no context any more.
    void forget_context() { context_from_ = context_.size(); }
    // How the text of the next window begins, by wish of the caller.
    std::vector<int> forced() const;
    // What accept() needs the alignment of: none where words are not asked for or there is no text.
    std::optional<TextToAlign> text_to_align(const Ladder& ladder) const;
    void accept(const Ladder& ladder, const TextAlignment& alignment);

    bool in_flight = false;  // a window is being decoded

  private:
    friend class LongForm;
    void advance(i64 n_frames);
    std::span<const int> context() const { return std::span(context_).subspan(context_from_); }
    // What a window's text becomes.
    SpokenWindow spoken(const WindowText& text) const;
    int language() const;                    // index among Config::languages
    std::string_view text_language() const;  // code; of a translation English
    std::vector<int> start_of_transcript() const;

    LongForm& whole_;
    std::deque<Clip> clips_;         // what is left, the present one first
    i64 seek_ = 0;                   // frames
    i64 n_passed_ = 0;               // frames that are done
    int language_ = -1;              // index among Config::languages; -1: to be asked
    bool first_ = true;              // no window has been decoded yet
    std::vector<int> context_;       // tokens said so far, the initial prompt first
    size_t context_from_ = 0;        // what stands before is no context any more
    double last_speech_s_ = 0;       // where the last word ended
    std::vector<Segment> segments_;  // not yet given away
};

class LongForm {
  public:
    // `index`: of the recording, for callbacks. `n_windows`: how many may be decoded at once.
    LongForm(const Facts& facts, const Options& options, const Recording& recording, int index,
             int n_windows);
    // Reads the recording once. A fault is kept in the transcript, and the recording is done.
    void open();
    // A passage that is not done, and of which no window is being decoded; or null.
    Passage* idle_passage();
    bool done() const;
    // Gives away the segments that are final: those of passages whose predecessors are done.
    void settle();
    void fail(const Error& error);
    // Ends early: what was said stays.
    void interrupt(const Error& error);
    Transcript take(const Timings& timings);

  private:
    friend class Passage;
    std::deque<Passage::Clip> clips(const std::vector<TimeSpan>& spans) const;
    void encode_texts();
    void report_progress() const;

    Facts facts_;
    const Options& options_;
    const Recording& recording_;
    WhisperMel mel_;
    int index_;
    int language_ = -1;
    std::vector<int> initial_prompt_, hotwords_, prefix_;
    std::deque<Passage> passages_;
    size_t n_settled_ = 0;  // passages whose segments have all been given away
    bool ended_ = false;    // by a fault, or from outside
    Transcript transcript_;
};

}  // namespace transcribe::whisper
