// Where somebody speaks in a recording, as bytes, one function a format; all of them end with a
// line break and may follow each other in one stream.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "asr/types.h"

namespace transcribe {

struct SpeechReport {
    std::string_view file;
    i64 duration_ms = 0;
    std::span<const TimeSpan> regions;
};

struct RegionWriter {
    const char* name;
    const char* head;  // stands once before all reports
    std::string (*write)(const SpeechReport&);
};

// lines: [00:00.320 --> 00:04.512], as transcripts show times. tsv: whole milliseconds. json: one
// object a line, seconds as numbers.
std::span<const RegionWriter> region_writers();

}  // namespace transcribe
