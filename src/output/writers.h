// A transcript as the bytes of a file, one function a format.
//
// All of them give valid UTF-8 that ends with a line break (or nothing at all). json follows the
// schema of the `whisper` command: seconds as numbers, segments with their leading space; `words`
// stands in a segment only where word times were computed. csv and tsv count whole milliseconds.
// srt and vtt follow the layout and take their times from words where there are any; the others
// have one line a segment.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "asr/types.h"
#include "output/layout.h"

namespace transcribe {

struct WriteOptions {
    std::string_view file = {};  // the recording's name, for jsonl
    Layout layout = {};
};

struct Writer {
    const char* name;  // also the suffix of the file: "srt"
    // Can several transcripts follow each other in one stream and still be read?
    bool streams;
    std::string (*write)(const Transcript& transcript, const WriteOptions& options);
};

std::span<const Writer> writers();
const Writer* find_writer(std::string_view name);  // nullptr: no such format

}  // namespace transcribe
