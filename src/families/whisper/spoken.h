// What the text of one window becomes: segments with their times, words where they are asked for,
// and the place where the next window starts (openai-whisper, the part of transcribe() after a
// window is decoded). Host code only.
#pragma once

#include <optional>

#include "asr/types.h"
#include "families/whisper/align_text.h"
#include "families/whisper/ladder.h"
#include "families/whisper/word_seek.h"

namespace transcribe::whisper {

struct Place {
    Window window;
    i64 end_frames = 0;        // of what is transcribed; windows do not go on behind it
    i64 end_ms = 0;            // nothing ends later
    double last_speech_s = 0;  // where the last word before the window ended
};

class SpokenWindow {
  public:
    // `text` must outlive this.
    SpokenWindow(const Facts& facts, const Options& options, const WindowText& text,
                 const Place& place);
    // Text tokens of all segments.
    std::vector<int> text_tokens() const;
    // Adds words, moves times to them, and drops what looks invented. `language`: code of the text.
    void add_words(const TextAlignment& alignment, std::string_view language);

    // Something is said to begin where the recording, or the piece of it, has ended.
    bool overruns() const;
    // Those with text and length that begin before the end; ids are left to the caller.
    std::vector<Segment> segments() const;
    i64 next_seek_frames() const { return seek_frames_; }
    double last_speech_s() const;

  private:
    std::span<const int> tokens_of(const Slice& slice) const;
    Segment segment_of(size_t i) const;
    bool is_behind_end(i64 ms) const { return ms >= place_.end_ms; }

    const Facts& facts_;
    const Options& options_;
    const WindowText& text_;
    Place place_;
    Cut cut_;
    i64 seek_frames_;
    std::vector<TimedSegment> timed_;  // one a slice, as many of the first as are kept
};

}  // namespace transcribe::whisper
