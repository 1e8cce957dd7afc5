// One frame of log mel: window, power spectrum, triangular filters, logarithm; four frames at a
// time. Single precision throughout, as in the reference; its own rounding is of the same size.
#include "audio/mel.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace transcribe {
namespace {

using IntLanes = std::int32_t __attribute__((vector_size(16)));

// The logarithm of a base, by what it gives for 2 and for e^2.
struct Base {
    float log_of_2, log_of_e_squared;
};
constexpr Base base_10{0.301029995663981195f, 0.868588963806503655f};
constexpr Base base_e{0.693147180559945309f, 2.0f};

// Logarithm of positive, normal numbers, good to 1e-7 (a vector call would need a vector libm).
// x = m 2^e with m in [sqrt(1/2), sqrt(2)); ln m = 2 atanh(s), s = (m - 1) / (m + 1), |s| < 0.172:
// five terms of atanh's series leave 1e-9.
Float4 log_lanes(Float4 x, Base base) {
    constexpr std::int32_t half_root = 0x3f3504f3;  // bits of sqrt(1/2)
    const IntLanes bits = (IntLanes)x - half_root;
    const IntLanes exponent = bits >> 23;
    const Float4 m = (Float4)((bits & 0x7fffff) + half_root);
    const Float4 s = (m - 1.0f) / (m + 1.0f), s2 = s * s;
    const Float4 series =
        1.0f + s2 * (1.0f / 3 + s2 * (1.0f / 5 + s2 * (1.0f / 7 + s2 * (1.0f / 9))));
    return __builtin_convertvector(exponent, Float4) * base.log_of_2 +
           base.log_of_e_squared * s * series;
}

Float4 level_of(Float4 power, MelSpec::Level level) {
    constexpr float floor = 1e-10f, guard = 0x1p-24f;
    if (level == MelSpec::Level::ln_guarded) return log_lanes(power + guard, base_e);
    return log_lanes(power > floor ? power : floor - Float4{}, base_10);
}

}  // namespace

Mel::Mel(MelSpec spec) : spec_(std::move(spec)), spectrum_(spec_.n_fft) {
    const size_t n_bins = spectrum_.n_bins(), n_mels = spec_.n_mels;
    CHECK(spec_.n_mels > 0 && spec_.hop > 0);
    CHECK(spec_.window.size() == size_t(spec_.n_fft));
    CHECK(spec_.filters.size() == n_bins * n_mels);
    for (size_t m = 0; m < n_mels; m++) {
        const float* filter = spec_.filters.data() + m * n_bins;
        int begin = 0, end = int(n_bins);
        while (begin < end && filter[begin] == 0) begin++;
        while (end > begin && filter[end - 1] == 0) end--;
        bands_.push_back({begin, end});
    }
}

void Mel::frames(const float* samples, int n, float* out) const {
    std::vector<ComplexLanes> work(2 * size_t(spec_.n_fft));
    for (int i = 0; i < n; i += n_lanes) {
        group(samples + i64(i) * spec_.hop, std::min(n - i, n_lanes), out + i64(i) * spec_.n_mels,
              work.data());
    }
}

void Mel::group(const float* samples, int n, float* out, ComplexLanes* work) const {
    const float* lane[n_lanes];  // spare lanes repeat the last frame
    for (int l = 0; l < n_lanes; l++) lane[l] = samples + i64(std::min(l, n - 1)) * spec_.hop;
    const int n_half = spec_.n_fft / 2;
    const float* w = spec_.window.data();
    for (int j = 0; j < n_half; j++) {
        const int a = 2 * j, b = 2 * j + 1;
        work[j].re = w[a] * Float4{lane[0][a], lane[1][a], lane[2][a], lane[3][a]};
        work[j].im = w[b] * Float4{lane[0][b], lane[1][b], lane[2][b], lane[3][b]};
    }
    Float4* power = &work[2 * n_half].re;
    spectrum_.run(work, work + n_half, power);

    const float* filter = spec_.filters.data();
    for (int m = 0; m < spec_.n_mels; m++, filter += spectrum_.n_bins()) {
        Float4 sum{};
        for (int k = bands_[m].begin; k < bands_[m].end; k++) sum += filter[k] * power[k];
        const Float4 level = level_of(sum, spec_.level);
        for (int l = 0; l < n; l++) out[i64(l) * spec_.n_mels + m] = level[l];
    }
}

}  // namespace transcribe
