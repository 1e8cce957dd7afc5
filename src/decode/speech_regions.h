// From probabilities of speech to the regions where somebody speaks: the rules of silero-vad 6.2
// (get_speech_timestamps), in milliseconds. Equal to it, but for the end of a recording, which is
// rounded up to a millisecond.
#pragma once

#include <vector>

#include "asr/voice.h"

namespace transcribe {

// In order, apart from each other, within the recording.
std::vector<TimeSpan> speech_regions(const SpeechTrack& track, const VadOptions& options);

}  // namespace transcribe
