// Slaney's scale (Auditory Toolbox, 1998; as librosa computes it): linear below 1 kHz with 15 mels
// there, then 27 mels for each factor of 6.4.
#include "convert/mel_filters.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace transcribe {

namespace {

constexpr double linear_hz_per_mel = 200.0 / 3;
constexpr double break_hz = 1000.0;
constexpr double break_mel = break_hz / linear_hz_per_mel;
const double log_step = std::log(6.4) / 27;

double mel_of(double hz) {
    return hz < break_hz ? hz / linear_hz_per_mel : break_mel + std::log(hz / break_hz) / log_step;
}

double hz_of(double mel) {
    return mel < break_mel ? mel * linear_hz_per_mel
                           : break_hz * std::exp(log_step * (mel - break_mel));
}

}  // namespace

std::vector<float> slaney_filters(const MelFilterSpec& spec) {
    int n_bins = spec.n_fft / 2 + 1;
    auto edge = [&](int i) { return hz_of(mel_of(spec.f_max) * i / (spec.n_mels + 1)); };
    std::vector<float> out;
    out.reserve(static_cast<size_t>(n_bins) * static_cast<size_t>(spec.n_mels));
    for (int m = 0; m < spec.n_mels; m++) {
        double lo = edge(m), mid = edge(m + 1), hi = edge(m + 2);
        for (int bin = 0; bin < n_bins; bin++) {
            double hz = static_cast<double>(bin) * spec.sample_rate / spec.n_fft;
            double height = std::min((hz - lo) / (mid - lo), (hi - hz) / (hi - mid));
            out.push_back(static_cast<float>(std::max(0.0, height) * 2 / (hi - lo)));
        }
    }
    return out;
}

std::vector<float> periodic_hann(int n) {
    std::vector<float> out;
    for (int i = 0; i < n; i++) {
        out.push_back(static_cast<float>(0.5 - 0.5 * std::cos(2 * std::numbers::pi * i / n)));
    }
    return out;
}

}  // namespace transcribe
