#include "families/silero/chunks.h"

#include <algorithm>

namespace transcribe::silero {

static_assert(NetConfig::n_frames == n_lanes, "the frames of a chunk are transformed at once");

Chunks::Chunks(AudioSource& audio, const NetConfig& config, std::span<const float> window)
    : audio_(audio),
      c_(config),
      window_(window),
      spectrum_(config.n_fft),
      samples_(static_cast<size_t>(config.n_context() + config.n_chunk() + config.n_mirror())),
      work_(static_cast<size_t>(2 * config.n_fft)) {}

Expected<size_t> Chunks::next(std::span<float> power) {
    const auto n_input = static_cast<size_t>(c_.n_input()), n = power.size() / n_input;
    std::fill(power.begin(), power.end(), 0.0f);
    float* chunk = samples_.data() + c_.n_context();
    float* end = chunk + c_.n_chunk();
    for (size_t i = 0; i < n; i++) {
        std::copy(end - c_.n_context(), end, samples_.data());
        TRY_SET(size_t n_read, audio_.read({chunk, end}));
        if (n_read == 0) return i;
        n_samples_ += static_cast<i64>(n_read);
        std::fill(chunk + n_read, end, 0.0f);
        std::reverse_copy(end - 1 - c_.n_mirror(), end - 1, end);
        transform(samples_.data(), &power[i * n_input]);
        if (n_read < static_cast<size_t>(c_.n_chunk())) return i + 1;
    }
    return n;
}

void Chunks::transform(const float* samples, float* power) {
    const int n_half = c_.n_fft / 2;
    const float* w = window_.data();
    const float* lane[n_lanes];
    for (int l = 0; l < n_lanes; l++) lane[l] = samples + l * c_.hop();
    for (int j = 0; j < n_half; j++) {
        const int a = 2 * j, b = 2 * j + 1;
        ComplexLanes& point = work_[static_cast<size_t>(j)];
        point.re = w[a] * Float4{lane[0][a], lane[1][a], lane[2][a], lane[3][a]};
        point.im = w[b] * Float4{lane[0][b], lane[1][b], lane[2][b], lane[3][b]};
    }
    Float4* found = &work_[static_cast<size_t>(2 * n_half)].re;
    spectrum_.run(work_.data(), &work_[static_cast<size_t>(n_half)], found);
    for (int l = 0; l < n_lanes; l++) {
        for (int k = 0; k < c_.n_bins(); k++) power[l * c_.n_padded_bins() + k] = found[k][l];
    }
}

}  // namespace transcribe::silero
