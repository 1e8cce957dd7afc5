// Segments as a line of text shows them, and the ways to write a time.
//
// A cue has no leading or trailing blanks and no line breaks (an empty line would end a subtitle
// early), never ends before it starts, and lies within the recording; blank segments give none.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "asr/types.h"

namespace transcribe {

struct Cue {
    i64 t0_ms = 0, t1_ms = 0;
    std::string text;
};

// `duration_s` 0: not known, so only order is kept. Nothing for a blank segment.
std::optional<Cue> make_cue(const Segment& segment, double duration_s);
std::vector<Cue> make_cues(const Transcript& transcript);

// Times of a segment as a file may state them: 0 <= t0 <= t1 <= duration.
Segment within(Segment segment, double duration_s);

// Valid UTF-8 with blanks for line breaks.
std::string one_line(std::string_view text);
std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

std::string srt_time(i64 ms);      // 01:02:03,456
std::string vtt_time(i64 ms);      // 02:03.456, with hours in front where there are any
std::string lrc_time(i64 ms);      // 62:03.45
std::string cue_line(const Cue&);  // [00:00.000 --> 00:07.740]  text

}  // namespace transcribe
