// The mel filterbank that Whisper was trained with, for checkpoints that do not carry it.
#pragma once

#include <vector>

namespace transcribe {

struct MelFilterSpec {
    int n_mels = 80;
    int n_fft = 400;
    int sample_rate = 16000;
    double f_max = 8000;
};

// [n_fft / 2 + 1, n_mels], bins fastest: triangles on Slaney's mel scale, each of equal area.
std::vector<float> slaney_filters(const MelFilterSpec&);

// The Hann window with period n (not n - 1).
std::vector<float> periodic_hann(int n);

}  // namespace transcribe
