// Stockham's mixed-radix transform over lanes, and the step from n/2 complex points to a real
// spectrum.
#include "audio/fft.h"

#include <cmath>
#include <numbers>
#include <utility>

#include "base/check.h"

namespace transcribe {
namespace {

using C = ComplexLanes;

inline C operator+(C a, C b) {
    return {a.re + b.re, a.im + b.im};
}
inline C operator-(C a, C b) {
    return {a.re - b.re, a.im - b.im};
}
inline C operator*(float s, C a) {
    return {s * a.re, s * a.im};
}
inline C times_minus_i(C a) {
    return {a.im, -a.re};
}
inline C times(C a, float re, float im) {
    return {re * a.re - im * a.im, re * a.im + im * a.re};
}

// The transform of `radix` points, in place.
template <int radix>
void butterfly(C* a);

template <>
inline void butterfly<2>(C* a) {
    const C d = a[0] - a[1];
    a[0] = a[0] + a[1];
    a[1] = d;
}

template <>
inline void butterfly<4>(C* a) {
    const C s02 = a[0] + a[2], d02 = a[0] - a[2];
    const C s13 = a[1] + a[3], d13 = times_minus_i(a[1] - a[3]);
    a[0] = s02 + s13;
    a[1] = d02 + d13;
    a[2] = s02 - s13;
    a[3] = d02 - d13;
}

template <>
inline void butterfly<5>(C* a) {
    constexpr float c1 = 0.30901699437494742f, c2 = -0.80901699437494742f;  // cos 72, cos 144
    constexpr float s1 = 0.95105651629515357f, s2 = 0.58778525229247313f;   // sin 72, sin 144
    const C s14 = a[1] + a[4], d14 = times_minus_i(a[1] - a[4]);
    const C s23 = a[2] + a[3], d23 = times_minus_i(a[2] - a[3]);
    const C even1 = a[0] + c1 * s14 + c2 * s23, odd1 = s1 * d14 + s2 * d23;
    const C even2 = a[0] + c2 * s14 + c1 * s23, odd2 = s2 * d14 - s1 * d23;
    a[0] = a[0] + s14 + s23;
    a[1] = even1 + odd1;
    a[2] = even2 + odd2;
    a[3] = even2 - odd2;
    a[4] = even1 - odd1;
}

int next_radix(int n) {
    for (int radix : {5, 4, 2}) {
        if (n % radix == 0) return radix;
    }
    return 0;
}

}  // namespace

bool PowerSpectrum::supports(int n_fft) {
    if (n_fft < 4 || n_fft % 2 != 0) return false;
    int n = n_fft / 2;
    while (n > 1) {
        const int radix = next_radix(n);
        if (radix == 0) return false;
        n /= radix;
    }
    return true;
}

PowerSpectrum::PowerSpectrum(int n_fft) : n_half_(n_fft / 2) {
    CHECK(supports(n_fft));
    const auto root = [](double k, double n) {
        const double angle = -2 * std::numbers::pi * k / n;
        return Twiddle{float(std::cos(angle)), float(std::sin(angle))};
    };
    for (int n = n_half_, stride = 1; n > 1;) {
        const int radix = next_radix(n), n_groups = n / radix;
        Stage stage{radix, n_groups, stride, {}};
        for (int p = 0; p < n_groups; p++) {
            for (int k = 1; k < radix; k++) stage.twiddles.push_back(root(p * k, n));
        }
        stages_.push_back(std::move(stage));
        n = n_groups;
        stride *= radix;
    }
    for (int k = 0; k <= n_half_ / 2; k++) halves_.push_back(root(k, n_fft));
}

template <int radix>
void PowerSpectrum::pass(const Stage& stage, const C* x, C* y) {
    const int s = stage.stride, m = stage.n_groups;
    for (int p = 0; p < m; p++) {
        const Twiddle* w = stage.twiddles.data() + size_t(p) * (radix - 1);
        for (int q = 0; q < s; q++) {
            C a[radix];
            for (int i = 0; i < radix; i++) a[i] = x[q + s * (p + m * i)];
            butterfly<radix>(a);
            y[q + s * radix * p] = a[0];
            for (int k = 1; k < radix; k++) {
                y[q + s * (radix * p + k)] = times(a[k], w[k - 1].re, w[k - 1].im);
            }
        }
    }
}

void PowerSpectrum::run(C* x, C* scratch, Float4* power) const {
    for (const Stage& stage : stages_) {
        switch (stage.radix) {
            case 2: pass<2>(stage, x, scratch); break;
            case 4: pass<4>(stage, x, scratch); break;
            default: pass<5>(stage, x, scratch); break;
        }
        std::swap(x, scratch);
    }
    // x is the transform of even + i odd. With E and O those of the even and the odd samples, the
    // real spectrum is E + w O, and its mirror image E - w O.
    const auto squared = [](C a) { return a.re * a.re + a.im * a.im; };
    power[0] = (x[0].re + x[0].im) * (x[0].re + x[0].im);
    power[n_half_] = (x[0].re - x[0].im) * (x[0].re - x[0].im);
    for (int k = 1; k <= n_half_ / 2; k++) {
        const C z = x[k], mirror{x[n_half_ - k].re, -x[n_half_ - k].im};
        const C even = 0.5f * (z + mirror), odd = 0.5f * times_minus_i(z - mirror);
        const C turned = times(odd, halves_[k].re, halves_[k].im);
        power[k] = squared(even + turned);
        power[n_half_ - k] = squared(even - turned);
    }
}

}  // namespace transcribe
