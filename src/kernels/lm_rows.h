// Functions of one row of floats that language models of the Llama lineage need.
#pragma once

#include <cstddef>

namespace transcribe::kernels {

// y = x / sqrt(mean of x^2 + eps) * weight (Zhang and Sennrich 2019), n values; y may be x.
struct RmsNorm {
    const float* weight;  // [n]
    size_t n;
    float eps;
};
void rms_norm(const RmsNorm& norm, const float* x, float* y);

// Value i of the first half and value i of the second are a point that turns by the angle i (Su et
// al. 2021, in the order of GPT-NeoX). `turns`: n / 2 cosines, then as many sines. y may be x.
void turn(const float* turns, size_t n, const float* x, float* y);

// y = silu(gate) * x; silu(v) = v / (1 + exp(-v)). y may be either.
void swiglu(const float* gate, const float* x, size_t n, float* y);

}  // namespace transcribe::kernels
