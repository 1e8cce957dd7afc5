// Transcripts as JSON, and the lines of the jsonl format: one event a line as the work goes on.
//
//   {"event": "segment", "file", "id", "seek", "start", "end", "text", ...}
//   {"event": "done", "file", "text", "language", "duration", "complete"}
//   {"event": "error", "file", "message"}
//
// and of sound that is transcribed as it comes, instead of segments:
//   {"event": "commit", "file", "start", "end", "text", "words"}   these words never change
//   {"event": "partial", "file", "text"}                           what follows them, for now
//
// Always valid: bytes that are no UTF-8 (names of files may hold them) become U+FFFD, numbers that
// are not finite become null. No line break at the end.
#pragma once

#include <string>
#include <string_view>

#include "asr/types.h"

namespace transcribe {

std::string transcript_json(const Transcript& transcript);
std::string segment_event(std::string_view file, const Segment& segment);
std::string commit_event(std::string_view file, const std::vector<Word>& words);  // at least one
std::string partial_event(std::string_view file, std::string_view text);
std::string done_event(std::string_view file, const Transcript& transcript);
std::string error_event(std::string_view file, const Error& error);

}  // namespace transcribe
