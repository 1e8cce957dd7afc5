// What libavformat does not tell about a RIFF (wav, avi) or AIFF file: read from its first bytes.
#pragma once

#include "audio/file_input.h"

namespace transcribe {

struct RiffFacts {
    // By how much the file is shorter than its header says; 0 for any other file, and where the
    // size was never filled in (a recorder that writes to a pipe leaves 0 or all ones).
    i64 n_missing_bytes = 0;
    bool is_extensible = false;  // fmt chunk with the tag WAVE_FORMAT_EXTENSIBLE
};

// Moves the position of `input`.
RiffFacts read_riff_facts(FileInput& input);

}  // namespace transcribe
