// The second reading of a window's text, word by word as it stands, which tells when its tokens
// were spoken and how probable they are (openai-whisper, timing.py, find_alignment).
#pragma once

#include "families/whisper/config.h"
#include "families/whisper/words.h"

namespace transcribe::whisper {

struct TextToAlign {
    std::vector<int> before;  // start-of-transcript ... no-timestamps
    std::vector<int> text;    // text tokens only; not empty, both together less than n_text_ctx
    i64 n_frames = 0;         // of 10 ms: how much of the window is recording
};

// `caches`: one row of the session's, whose own tokens are overwritten, and the memory of the
// window. Begins a graph of its own. Errors: aborted, out_of_memory, backend.
Expected<TextAlignment> align_text(Compute& compute, const Net& net, const Config& config,
                                   const Decoder::Caches& caches, const TextToAlign& what);

}  // namespace transcribe::whisper
