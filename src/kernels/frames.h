// Depthwise convolutions over frames, channels fastest, for any processor. Frames behind a row's
// own length, in the input, count as zeros.
#pragma once

#include <cstddef>
#include <cstdint>

namespace transcribe::kernels {

// 3 x 3 over width and frames, stride 2, one of zeros around.
struct Halving {
    const float*
        x;  // [n_channels, n_width, n_frames, n_batch], or with one channel for all outputs
    const float *w, *bias;        // [n_channels, 3 (width), 3 (frames)], [n_channels]
    float* y;                     // [n_channels, n_width_out, n_frames_out, n_batch]
    const std::int32_t* lengths;  // [n_batch] frames of x; null: all
    size_t n_channels, n_width, n_frames, n_batch;
    bool one_channel;  // x has one
    bool relu;         // of the sum
    size_t n_width_out() const { return (n_width + 1) / 2; }
    size_t n_frames_out() const { return (n_frames + 1) / 2; }
};

// silu(w * glu(x) + bias) over frames, zeros at both ends; glu(x) = values * sigmoid(gates).
struct GatedConv {
    const float* x;               // [2 n_channels, n_frames, n_batch]: values, then gates
    const float *w, *bias;        // [n_channels, n_taps], [n_channels]
    float* y;                     // [n_channels, n_frames, n_batch]
    const std::int32_t* lengths;  // as above
    size_t n_channels, n_taps, n_frames, n_batch;
};

// Compute the share `i` of `n`. Shares may run at the same time.
void halving(const Halving& c, size_t i, size_t n);
void gated_conv(const GatedConv& c, size_t i, size_t n);

}  // namespace transcribe::kernels
