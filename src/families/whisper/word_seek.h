// Where the next window starts when words are timed, and which segments of this one are taken for
// invented text around silence (openai-whisper, transcribe.py, hallucination_silence_threshold).
//
// Times are seconds of the recording in double, as in words.h.
#pragma once

#include <optional>

#include "families/whisper/segments.h"
#include "families/whisper/words.h"

namespace transcribe::whisper {

struct WordWindow {
    Window window;
    bool ends_in_single_timestamp = false;
    i64 seek_after_frames = 0;  // where the next window would start without words
    i64 window_max_frames = 0;  // of a whole window
    i64 recording_frames = 0;   // of content
    double last_speech_s = 0;   // where the last word before this window ended
    double silence_s = 0;       // longer silence makes strange text suspicious; 0: never
};

struct AfterWords {
    i64 seek_frames = 0;
    size_t n_segments = 0;  // the first ones are kept
};

// `segments`: of the window, with their words.
AfterWords after_words(std::span<const TimedSegment> segments, const WordWindow& at);

// Where the last word ends, or without words the last segment; nothing without segments.
std::optional<double> end_of_speech(std::span<const TimedSegment> segments);

}  // namespace transcribe::whisper
