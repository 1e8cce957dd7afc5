// NeMo's front end against the same in double precision, step by step as the reference takes them.
#include "audio/clip_mel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <random>

namespace transcribe {
namespace {

MelSpec spec(MelSpec::Padding padding) {
    MelSpec s;
    s.n_mels = 20;
    s.n_fft = 512;
    s.level = MelSpec::Level::ln_guarded;
    s.padding = padding;
    s.pre_emphasis = 0.97f;
    const int n_bins = s.n_fft / 2 + 1;
    for (int m = 0; m < s.n_mels; m++) {
        for (int k = 0; k < n_bins; k++) {
            s.filters.push_back(float(0.02 * std::max(0.0, 1 - std::abs(k / 12.0 - m - 1))));
        }
    }
    for (int i = 0; i < s.n_fft; i++) {
        const int at = i - 56;  // 400 samples in the middle
        const bool inside = at >= 0 && at < 400;
        s.window.push_back(inside ? float(0.5 - 0.5 * std::cos(2 * std::numbers::pi * at / 399))
                                  : 0);
    }
    return s;
}

std::vector<float> noise(size_t n) {
    std::mt19937 random(static_cast<unsigned>(n));
    std::normal_distribution<float> draw(0, 0.1f);
    std::vector<float> out(n);
    for (float& v : out) v = draw(random);
    return out;
}

// The sample at `i` of the padded clip.
double padded(const std::vector<double>& y, i64 i, MelSpec::Padding padding) {
    const i64 n = i64(y.size());
    if (padding == MelSpec::Padding::mirror && i < 0) i = -i;
    if (padding == MelSpec::Padding::mirror && i >= n) i = 2 * (n - 1) - i;
    return i >= 0 && i < n ? y[size_t(i)] : 0.0;
}

double power(const MelSpec& s, const std::vector<double>& y, i64 frame, int bin) {
    std::complex<double> sum = 0;
    for (int i = 0; i < s.n_fft; i++) {
        const double angle = -2 * std::numbers::pi * (i64(bin) * i % s.n_fft) / s.n_fft;
        const double x = padded(y, frame * s.hop + i - s.n_fft / 2, s.padding);
        sum += double(s.window[size_t(i)]) * x * std::polar(1.0, angle);
    }
    return std::norm(sum);
}

std::vector<double> plainly(const MelSpec& s, const std::vector<float>& x) {
    std::vector<double> y;
    for (size_t i = 0; i < x.size(); i++) {
        y.push_back(x[i] - (i > 0 ? double(s.pre_emphasis) * x[i - 1] : 0));
    }
    const i64 n = i64(x.size()) / s.hop, n_bins = s.n_fft / 2 + 1;
    std::vector<double> mel(size_t(n * s.n_mels), 0.0);
    for (i64 t = 0; t < n; t++) {
        for (int k = 0; k < n_bins; k++) {
            const double p = power(s, y, t, k);
            for (int m = 0; m < s.n_mels; m++) {
                mel[size_t(t * s.n_mels + m)] += s.filters[size_t(m * n_bins + k)] * p;
            }
        }
    }
    for (int m = 0; m < s.n_mels; m++) {
        double mean = 0, square = 0;
        auto at = [&](i64 t) -> double& { return mel[size_t(t * s.n_mels + m)]; };
        for (i64 t = 0; t < n; t++) mean += (at(t) = std::log(at(t) + std::exp2(-24))) / double(n);
        for (i64 t = 0; t < n; t++) square += (at(t) - mean) * (at(t) - mean);
        const double deviation = n > 1 ? std::sqrt(square / double(n - 1)) : 0;
        for (i64 t = 0; t < n; t++) at(t) = (at(t) - mean) / (deviation + 1e-5);
    }
    return mel;
}

TEST(ClipMel, EqualsTheReferenceAtEveryLength) {
    for (auto padding : {MelSpec::Padding::zeros, MelSpec::Padding::mirror}) {
        const Mel mel(spec(padding));
        for (size_t n : {400u, 1599u, 1600u, 2345u}) {
            const auto x = noise(n);
            const auto got = clip_mel(mel, x);
            const auto wanted = plainly(mel.spec(), x);
            ASSERT_EQ(got.size(), wanted.size()) << n;
            for (size_t i = 0; i < got.size(); i++) ASSERT_NEAR(got[i], wanted[i], 1e-3) << n;
        }
    }
}

TEST(ClipMel, VeryShortClips) {
    const Mel mel(spec(MelSpec::Padding::mirror));
    for (size_t n : {0u, 1u, 159u}) EXPECT_TRUE(clip_mel(mel, noise(n)).empty()) << n;
    for (size_t n : {160u, 319u}) {  // one frame deviates by nothing
        const auto got = clip_mel(mel, noise(n));
        EXPECT_EQ(got, std::vector<float>(20, 0.0f)) << n;
    }
    for (float v : clip_mel(mel, std::vector<float>(800, 0.0f))) EXPECT_NEAR(v, 0, 1e-6);
}

}  // namespace
}  // namespace transcribe
