// Samples that a caller has in memory, of any rate and number of channels, as the engine wants
// them: mixed, resampled and rounded to 16 bits as those of a file are.
#pragma once

#include <span>
#include <vector>

#include "base/audio_source.h"

namespace transcribe {

struct PcmFormat {
    int rate_hz, n_channels;  // interleaved
};

// Errors: invalid_argument (a rate or number of channels that cannot be).
Status check(PcmFormat format);

// No more samples than this come of so many frames.
size_t n_resampled_max(PcmFormat format, size_t n_frames);

// Errors: those of check, bad_audio, out_of_memory.
Expected<std::vector<float>> resample(PcmFormat format, std::span<const float> interleaved);

}  // namespace transcribe
