#include "audio/clip_mel.h"

#include <algorithm>
#include <cmath>

namespace transcribe {
namespace {

// Pre-emphasized, with half a transform of padding at both ends. A clip too short to be mirrored
// has zeros where nothing is left.
std::vector<float> padded(const MelSpec& spec, std::span<const float> x) {
    const size_t n = x.size(), n_pad = size_t(spec.n_fft / 2);
    std::vector<float> y(n + 2 * n_pad, 0.0f);
    float* out = y.data() + n_pad;
    for (size_t i = 0; i < n; i++) out[i] = x[i] - (i > 0 ? spec.pre_emphasis * x[i - 1] : 0.0f);
    if (spec.padding == MelSpec::Padding::zeros) return y;
    for (size_t j = 1; j <= n_pad && j < n; j++) {
        y[n_pad - j] = out[j];
        out[n - 1 + j] = out[n - 1 - j];
    }
    return y;
}

// Mean 0 and deviation 1 (of a sample: N - 1) of each band. A single frame deviates by nothing.
void normalize(std::vector<float>& mel, size_t n_mels) {
    constexpr double guard = 1e-5;
    const size_t n_frames = mel.size() / n_mels;
    std::vector<double> mean(n_mels, 0.0), deviation(n_mels, 0.0);
    auto each = [&](auto&& of) {
        for (size_t i = 0; i < mel.size(); i++) of(mel[i], i % n_mels);
    };
    each([&](float v, size_t m) { mean[m] += v; });
    for (double& v : mean) v /= double(n_frames);
    each([&](float v, size_t m) { deviation[m] += (v - mean[m]) * (v - mean[m]); });
    for (double& v : deviation) v = n_frames > 1 ? std::sqrt(v / double(n_frames - 1)) : 0.0;
    each([&](float& v, size_t m) { v = float((v - mean[m]) / (deviation[m] + guard)); });
}

}  // namespace

i64 n_clip_frames(const MelSpec& spec, i64 n_samples) {
    return n_samples / spec.hop;
}

std::vector<float> clip_mel(const Mel& mel, std::span<const float> samples) {
    const MelSpec& spec = mel.spec();
    const i64 n = n_clip_frames(spec, i64(samples.size()));
    std::vector<float> out(size_t(n * spec.n_mels));
    if (n == 0) return out;
    mel.frames(padded(spec, samples).data(), int(n), out.data());
    normalize(out, size_t(spec.n_mels));
    return out;
}

}  // namespace transcribe
