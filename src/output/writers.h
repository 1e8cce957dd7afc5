// A transcript as the bytes of a file, one function a format.
//
// All of them give valid UTF-8 that ends with a line break (or nothing at all). json follows the
// schema of the `whisper` command: seconds as numbers, segments with their leading space; `words`
// stands in a segment only where word times were computed. csv and tsv count whole milliseconds.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "asr/types.h"

namespace transcribe {

struct Writer {
    const char* name;  // also the suffix of the file: "srt"
    // Can several transcripts follow each other in one stream and still be read?
    bool streams;
    std::string (*write)(const Transcript& transcript, std::string_view file);
};

std::span<const Writer> writers();
const Writer* find_writer(std::string_view name);  // nullptr: no such format

}  // namespace transcribe
