// Layers over padded rows of frames, channels fastest: depthwise convolutions, and attention that
// knows how far apart two frames are. `seen` f32 [1, T, B] says which frames are a row's own: ones,
// then zeros. Frames that are not are zeros to a convolution and invisible to attention; what an
// output has in their place means nothing.
#pragma once

#include "nn/linear.h"
#include "nn/norm.h"

namespace transcribe {

// A convolution of 3 x 3 over width and time with stride 2 and one of zeros around, each channel
// for itself, or all from the one that the input has.
struct HalvingConv {
    Weight w, b;  // w [C, 3, 3]: the file's [3, 3, 1, C] with the channel fastest

    void bind(Scope s, i64 n_channels);
    // x [C, W, T, B] or [1, W, T, B] -> f(...) [C, W / 2, T / 2, B], halves rounded up; f none or
    // relu
    Tensor operator()(Tensor x, Tensor seen, Activation f = Activation::none) const;
};

// Gate, depthwise convolution over time, batch norm, SiLU: the middle of a Conformer's convolution
// module. The batch norm, whose statistics are fixed, is folded into the convolution at load.
struct GatedConv {
    Weight w, b;  // w [C, n_taps]

    // `s` holds depthwise.{weight, bias} and bn.{weight, bias, running_mean, running_var}.
    void bind(Scope s, i64 n_channels, int n_taps);
    // x [2 C, T, B], values and then gates -> [C, T, B]
    Tensor operator()(Tensor x, Tensor seen) const;
};

// Self attention with relative positions (Dai et al. 2019), whole rows, biases u and v a head.
struct RelativeAttention {
    Linear wq, wk, wv, wo, wpos;
    Weight u, v;  // [d / H, H]
    int n_heads = 0;

    void bind(Scope s, i64 d, int n_heads);
    // x [d, T, B], positions [d, 2 T - 1] (those of T - 1, ..., -(T - 1)) -> [d, T, B]
    Tensor operator()(Tensor x, Tensor positions, Tensor seen) const;
};

// Sines and cosines of positions n - 1, ..., -(n - 1): [d, 2 n - 1], even d.
std::vector<float> relative_positions(i64 d, i64 n);

}  // namespace transcribe
