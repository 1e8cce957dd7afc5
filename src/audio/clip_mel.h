// The mel of a whole clip, as NeMo's models hear it (AudioToMelSpectrogramPreprocessor):
// pre-emphasis, padding, log mel, and each mel band brought to mean 0 and deviation 1 over the
// clip.
#pragma once

#include <span>
#include <vector>

#include "audio/mel.h"

namespace transcribe {

// Frames that a clip has: those with a whole hop of samples. (The reference computes one more, and
// never looks at it.)
i64 n_clip_frames(const MelSpec& spec, i64 n_samples);

// -> [n_mels, n_clip_frames], mels fastest. Thread safe.
std::vector<float> clip_mel(const Mel& mel, std::span<const float> samples);

}  // namespace transcribe
