// A long recording in pieces that are decoded independently, several at a time: cut where nobody
// speaks, so that no word is torn.
#pragma once

#include <vector>

#include "asr/voice.h"
#include "engine/timeline.h"

namespace transcribe {

constexpr i64 default_piece_ms_max = 30000;
constexpr i64 shortest_piece_ms_max = 1000;  // a pause must fit in half of it

// Pieces of the speech's clock, one after another without a gap, none longer than `ms_max`: cut as
// late as possible where somebody pauses, or else where speech is least likely. `regions` and
// `track` are the recording's own.
std::vector<TimeSpan> cut_pieces(const Timeline& timeline, std::span<const TimeSpan> regions,
                                 const SpeechTrack& track, i64 ms_max = default_piece_ms_max);

// The same of a recording that no detector has heard: cut in a pause in the second half of each
// piece, by loudness. Reads it from where it stands to its end, in memory that does
// not grow with it. Errors: those of the recording.
Expected<std::vector<TimeSpan>> cut_pieces(AudioSource& audio, i64 ms_max = default_piece_ms_max);

}  // namespace transcribe
