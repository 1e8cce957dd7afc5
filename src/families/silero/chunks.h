// A recording as the network wants it: chunk by chunk the power spectra of four frames.
#pragma once

#include <vector>

#include "audio/fft.h"
#include "base/audio_source.h"
#include "families/silero/net.h"

namespace transcribe::silero {

class Chunks {
  public:
    // window [n_fft]
    Chunks(AudioSource& audio, const NetConfig& config, std::span<const float> window);
    // The next chunks into `power` [n_input, n]: how many of them hold samples. Fewer than n mean
    // the end, behind which stand zeros. Errors: those of the recording.
    Expected<size_t> next(std::span<float> power);
    i64 n_samples() const { return n_samples_; }

  private:
    void transform(const float* samples, float* power);

    AudioSource& audio_;
    const NetConfig& c_;
    std::span<const float> window_;
    PowerSpectrum spectrum_;
    std::vector<float> samples_;  // context, chunk, mirrored end
    std::vector<ComplexLanes> work_;
    i64 n_samples_ = 0;
};

}  // namespace transcribe::silero
