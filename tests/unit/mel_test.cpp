// The mel against a plain discrete Fourier transform in double precision, and WhisperMel against
// the reference's way: pad all, transform all, take the maximum of all, cut windows.
#include "audio/mel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>

namespace transcribe {
namespace {

// Numbers in [-1, 1), the same on every machine.
class Noise {
  public:
    explicit Noise(std::uint64_t seed) : state_(seed) {}
    float next() {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return float(std::int32_t(state_ >> 32)) / 2147483648.0f;
    }
    std::vector<float> samples(size_t n, float peak) {
        std::vector<float> x(n);
        for (float& v : x) v = peak * next();
        return x;
    }

  private:
    std::uint64_t state_;
};

// Triangles of equal width, with a weight like that of Whisper's filters.
MelSpec spec(int n_mels, int n_fft = 400) {
    MelSpec s{n_mels, n_fft, 160, {}, {}};
    const int n_bins = n_fft / 2 + 1;
    const double width = double(n_bins - 1) / (n_mels + 1);
    for (int m = 0; m < n_mels; m++) {
        for (int k = 0; k < n_bins; k++) {
            const double height = 1 - std::abs(k / width - (m + 1));
            s.filters.push_back(float(0.025 * std::max(0.0, height)));
        }
    }
    for (int i = 0; i < n_fft; i++) {
        s.window.push_back(float(0.5 - 0.5 * std::cos(2 * std::numbers::pi * i / n_fft)));
    }
    return s;
}

// log10 mel of one frame, by definition.
std::vector<double> plain_frame(const MelSpec& s, const std::vector<float>& x, size_t at) {
    const int n_bins = s.n_fft / 2 + 1;
    std::vector<double> power;
    for (int k = 0; k < n_bins; k++) {
        std::complex<double> sum = 0;
        for (int i = 0; i < s.n_fft; i++) {
            const double angle = -2 * std::numbers::pi * (i64(k) * i % s.n_fft) / s.n_fft;
            sum += double(s.window[i]) * double(x[at + i]) * std::polar(1.0, angle);
        }
        power.push_back(std::norm(sum));
    }
    std::vector<double> out;
    for (int m = 0; m < s.n_mels; m++) {
        double sum = 0;
        for (int k = 0; k < n_bins; k++) sum += double(s.filters[m * n_bins + k]) * power[k];
        out.push_back(std::log10(std::max(sum, 1e-10)));
    }
    return out;
}

// The reference, whole: [n_frames of the padded recording][n_mels], normalized. `n_zeros` stands
// for its 30 s (fewer give the same numbers).
std::vector<std::vector<double>> plain_whisper(const MelSpec& s, const std::vector<float>& x) {
    constexpr size_t n_zeros = 1600;
    const size_t n_pad = s.n_fft / 2;
    std::vector<float> tail = x, padded;
    tail.resize(x.size() + n_zeros, 0.0f);
    for (size_t j = n_pad; j > 0; j--) padded.push_back(tail[j]);
    padded.insert(padded.end(), tail.begin(), tail.end());
    padded.resize(padded.size() + n_pad, 0.0f);

    std::vector<std::vector<double>> frames;
    double maximum = -1e9;
    for (size_t t = 0; t < tail.size() / s.hop; t++) {
        frames.push_back(plain_frame(s, padded, t * s.hop));
        maximum = std::max(maximum, *std::ranges::max_element(frames.back()));
    }
    for (auto& frame : frames) {
        for (double& v : frame) v = (std::max(v, maximum - 8) + 4) / 4;
    }
    return frames;
}

class CountingSource : public MemorySource {
  public:
    using MemorySource::MemorySource;
    Status rewind() override {
        n_rewinds++;
        return MemorySource::rewind();
    }
    int n_rewinds = 0;
};

constexpr i64 n_back = 3000;

TEST(Mel, EqualsThePlainTransform) {
    for (int n_fft : {400, 512, 200, 320}) {
        const MelSpec s = spec(40, n_fft);
        const Mel mel(s);
        for (float peak : {1.0f, 1e-2f, 1e-4f, 0.0f}) {
            auto x = Noise(1).samples(n_fft, peak);
            for (int i = 0; i < n_fft; i++) x[i] += peak * std::sin(0.3f * float(i));
            std::vector<float> got(s.n_mels);
            mel.frames(x.data(), 1, got.data());
            const auto wanted = plain_frame(s, x, 0);
            for (int m = 0; m < s.n_mels; m++)
                ASSERT_NEAR(got[m], wanted[m], 2e-5) << n_fft << " " << m;
        }
    }
}

TEST(Mel, LengthsWithOtherFactorsAreNotSupported) {
    for (int n_fft : {400, 512, 4, 1024, 160}) EXPECT_TRUE(PowerSpectrum::supports(n_fft)) << n_fft;
    for (int n_fft : {0, -400, 2, 401, 402, 1200, 96})
        EXPECT_FALSE(PowerSpectrum::supports(n_fft)) << n_fft;
}

TEST(Mel, AFrameDoesNotDependOnItsNeighbours) {
    const MelSpec s = spec(80);
    const Mel mel(s);
    const auto x = Noise(2).samples(400 + 160 * 10, 0.7f);
    std::vector<float> together(size_t(80 * 11)), alone(80);
    mel.frames(x.data(), 11, together.data());
    for (int t = 0; t < 11; t++) {
        mel.frames(x.data() + 160 * t, 1, alone.data());
        ASSERT_TRUE(std::equal(alone.begin(), alone.end(), together.begin() + 80 * t)) << t;
    }
}

TEST(WhisperMel, EqualsTheReferenceAtEveryLength) {
    const MelSpec s = spec(80);
    const Mel mel(s);
    for (size_t n : {0u, 1u, 159u, 160u, 161u, 199u, 201u, 400u, 4000u, 4001u, 9999u}) {
        const auto x = Noise(n).samples(n, 0.3f);
        const auto wanted = plain_whisper(s, x);
        MemorySource source(x);
        WhisperMel got(mel, source, n_back);
        ASSERT_TRUE(got.scan());
        EXPECT_EQ(got.n_samples(), i64(n));
        ASSERT_EQ(got.n_frames(), i64(n / 160));
        std::vector<float> window(size_t(80 * 300));
        ASSERT_TRUE(got.window(0, 300, window));
        for (size_t i = 0; i < window.size(); i++) {
            const bool content = i / 80 < n / 160;
            ASSERT_NEAR(window[i], content ? wanted[i / 80][i % 80] : 0.0, content ? 1e-4 : 0.0)
                << n << " samples, frame " << i / 80 << " mel " << i % 80;
        }
    }
}

TEST(WhisperMel, FramesThatHangOverTheEndCountForTheMaximum) {
    const MelSpec s = spec(80);
    const Mel mel(s);
    std::vector<float> x = Noise(3).samples(16000 + 150, 1e-3f);
    for (size_t i = 16080; i < x.size(); i++)
        x[i] *= 900;  // loud where only frames past the last see it well
    const auto wanted = plain_whisper(s, x);
    MemorySource source(x);
    WhisperMel got(mel, source, n_back);
    ASSERT_TRUE(got.scan());
    std::vector<float> window(size_t(80 * 100));
    ASSERT_TRUE(got.window(0, 100, window));
    for (size_t i = 0; i < window.size(); i++) ASSERT_NEAR(window[i], wanted[i / 80][i % 80], 1e-4);
}

TEST(WhisperMel, ReadingTwiceGivesTheSameWindows) {
    const Mel mel(spec(40));
    const auto x = Noise(4).samples(160 * 20000 + 77, 0.5f);
    CountingSource kept_source(x), read_source(x);
    WhisperMel kept(mel, kept_source, n_back), read(mel, read_source, n_back, 1000);
    ASSERT_TRUE(kept.scan() && read.scan());
    ASSERT_EQ(kept.n_frames(), read.n_frames());
    std::vector<float> a(size_t(40 * 3000)), b(a);
    const i64 starts[] = {0,     2980,  2500,  5500,  8400,  8400, 6000,
                          17500, 19999, 20000, 25000, 17000, 3,    14000};
    for (i64 t0 : starts) {
        ASSERT_TRUE(kept.window(t0, 3000, a) && read.window(t0, 3000, b));
        ASSERT_TRUE(a == b) << "window at " << t0;
        ASSERT_EQ(*kept.silent(t0, 3000), *read.silent(t0, 3000)) << t0;
    }
    EXPECT_EQ(kept_source.n_rewinds, 0);
}

TEST(WhisperMel, GoingBackWithinAWindowCostsNoRewind) {
    const Mel mel(spec(40));
    const auto x = Noise(5).samples(160 * 30000, 0.5f);
    CountingSource source(x);
    WhisperMel got(mel, source, n_back, 0);
    ASSERT_TRUE(got.scan());
    std::vector<float> window(size_t(40 * 3000));
    for (i64 t0 = 0; t0 < 30000; t0 += 1500) {
        ASSERT_TRUE(got.window(t0, 3000, window));
        ASSERT_TRUE(got.window(std::max<i64>(0, t0 - 3000), 3000, window));
    }
    EXPECT_EQ(source.n_rewinds, 1);
}

// Fails at a sample, or ends earlier the second time.
class FaultySource : public MemorySource {
  public:
    FaultySource(std::span<const float> samples, bool fails)
        : MemorySource(samples), fails_(fails) {}
    Expected<size_t> read(std::span<float> out) override {
        n_reads_++;
        if (fails_ && n_reads_ > 3) return Error{Code::io, "the disk is gone"};
        if (n_rewinds_ > 0 && n_reads_ > 3) return size_t(0);
        return MemorySource::read(out);
    }
    Status rewind() override {
        n_rewinds_++;
        n_reads_ = 0;
        return MemorySource::rewind();
    }

  private:
    bool fails_;
    int n_reads_ = 0, n_rewinds_ = 0;
};

TEST(WhisperMel, FaultsOfTheSourceArriveAsErrors) {
    const Mel mel(spec(40));
    const auto x = Noise(6).samples(160 * 5000, 0.5f);
    FaultySource failing(x, true);
    const auto status = WhisperMel(mel, failing, n_back).scan();
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().what, "the disk is gone");

    FaultySource shrinking(x, false);
    WhisperMel got(mel, shrinking, n_back, 0);
    ASSERT_TRUE(got.scan());
    std::vector<float> window(size_t(40 * 3000));
    const auto shorter = got.window(1000, 3000, window);
    ASSERT_FALSE(shorter);
    EXPECT_EQ(shorter.error().code, Code::bad_audio);
}

bool silent(const std::vector<float>& x) {
    const Mel mel(spec(80));
    MemorySource source(x);
    WhisperMel got(mel, source, n_back);
    EXPECT_TRUE(got.scan());
    return *got.silent(0, 3000);
}

std::vector<float> tone(double hz, double peak, size_t n) {
    std::vector<float> x(n);
    for (size_t i = 0; i < n; i++) {
        x[i] = float(
            std::round(32768 * peak * std::sin(2 * std::numbers::pi * hz * double(i) / 16000)) /
            32768);
    }
    return x;
}

TEST(WhisperMel, SilenceIsToldFromFaintSpeech) {
    EXPECT_TRUE(silent({}));
    EXPECT_TRUE(silent(std::vector<float>(160000, 0.0f)));
    EXPECT_TRUE(silent(Noise(7).samples(160000, 2.2e-4f)));  // -78 dBFS RMS
    EXPECT_TRUE(silent(tone(50, 0.01, 160000)));             // hum, -43 dBFS RMS
    std::vector<float> click(160000, 0.0f);
    click[80000] = 0.02f;
    EXPECT_TRUE(silent(click));

    std::vector<float> vowel(160000, 0.0f);  // 0.1 s, harmonics of 120 Hz, peak -46 dBFS
    for (int harmonic = 1; harmonic <= 8; harmonic++) {
        const auto part = tone(120.0 * harmonic, 0.005 / 8, 1600);
        for (size_t i = 0; i < part.size(); i++) vowel[50000 + i] += part[i];
    }
    EXPECT_FALSE(silent(vowel));
    EXPECT_FALSE(silent(Noise(8).samples(160000, 0.005f)));
}

TEST(WhisperMel, SilenceIsAskedWindowByWindow) {
    std::vector<float> x(160 * 9000, 0.0f);
    const auto sound = Noise(9).samples(16000, 0.1f);
    std::copy(sound.begin(), sound.end(), x.begin() + 160 * 4000);
    const Mel mel(spec(80));
    MemorySource source(x);
    WhisperMel got(mel, source, n_back);
    ASSERT_TRUE(got.scan());
    EXPECT_TRUE(*got.silent(0, 3000));
    EXPECT_FALSE(*got.silent(3000, 3000));
    EXPECT_FALSE(*got.silent(4090, 3000));
    EXPECT_TRUE(*got.silent(4102, 3000));
    EXPECT_TRUE(*got.silent(8000, 3000));
    EXPECT_TRUE(*got.silent(9000, 3000));
    EXPECT_TRUE(*got.silent(12000, 3000));
}

}  // namespace
}  // namespace transcribe
