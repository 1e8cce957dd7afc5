// Where the tokens of one window are cut into segments, and where the next window starts: the part
// of the reference's transcribe() after a window is decoded (openai-whisper, transcribe.py).
//
// All times are frames of 10 ms. As in the reference an end may lie beyond the recording; the
// caller clamps.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/audio_source.h"

namespace transcribe {

struct Window {
    i64 seek_frames = 0;  // where it starts in the recording
    i64 n_frames = 0;     // how much of it is recording: at most 3000
    // All that is left of a piece, and its text is whole: what has no end time yet is not left to
    // another window, which would hear nothing else. Never so in the reference, which has no
    // pieces.
    bool is_last = false;
};

struct Slice {
    size_t first = 0, last = 0;        // tokens first ... last - 1
    i64 t0_frames = 0, t1_frames = 0;  // in the recording
};

struct Cut {
    std::vector<Slice> slices;
    i64 advance_frames = 0;  // from this window to the next; at least 1
    bool ends_in_single_timestamp = false;
};

// `tokens`: what was sampled, without the end of text.
Cut cut_window(std::span<const int> tokens, int timestamp_begin, const Window& window);

// A slice without length or text gives no segment, and its tokens do not go into the context of the
// next window (the reference lists it, emptied). Times in any unit; `text` is that of the slice's
// text tokens.
bool has_speech(i64 t0, i64 t1, std::string_view text);

}  // namespace transcribe
