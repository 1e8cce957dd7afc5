// Power spectra of real frames, four frames at a time.
//
// The length 400 is no power of two and Whisper needs a hundred spectra a second, so this is a
// small mixed-radix transform of our own: Stockham's order (no bit reversal), radix 4, 2 and 5. A
// real frame of n points is transformed as n/2 complex ones. Every operation is done on four frames
// in the four lanes of one vector, so each frame's result depends on that frame alone, bit for bit,
// wherever it stands in a group.
#pragma once

#include <vector>

namespace transcribe {

// The vector type of GCC and Clang: SSE or NEON, no flags needed. Another compiler needs its own
// here.
using Float4 = float __attribute__((vector_size(16)));
constexpr int n_lanes = 4;

struct ComplexLanes {
    Float4 re, im;
};

class PowerSpectrum {
  public:
    static bool supports(int n_fft);  // even, and n_fft / 2 a product of 2s and 5s
    explicit PowerSpectrum(int n_fft);
    int n_bins() const { return n_half_ + 1; }
    // x [n_fft/2]: samples 2j as re, 2j + 1 as im; destroyed. scratch [n_fft/2]. power [n_bins].
    void run(ComplexLanes* x, ComplexLanes* scratch, Float4* power) const;

  private:
    struct Twiddle {
        float re, im;
    };
    struct Stage {
        int radix;
        int n_groups;                   // length of the sub-transform / radix
        int stride;                     // sub-transforms, interleaved
        std::vector<Twiddle> twiddles;  // [radix - 1, n_groups]
    };
    template <int radix>
    static void pass(const Stage& stage, const ComplexLanes* x, ComplexLanes* y);

    int n_half_;
    std::vector<Stage> stages_;
    std::vector<Twiddle> halves_;  // exp(-2 pi i k / n_fft), k <= n_half / 2
};

}  // namespace transcribe
