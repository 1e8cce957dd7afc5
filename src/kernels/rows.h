// Functions of one row of floats.
#pragma once

#include <cstddef>

#include "kernels/activation.h"

namespace transcribe::kernels {

// Layer normalization (Ba et al. 2016).
struct LayerNorm {
    const float *weight, *bias;  // [n]
    size_t n;
    float eps;
};

// y = (x - mean) / sqrt(variance + eps) * weight + bias; y may be x.
void layer_norm(const LayerNorm& norm, const float* x, float* y);

// y = f(x + bias): bias may be null, y may be x.
void activate(Activation f, const float* x, const float* bias, float* y, size_t n);

}  // namespace transcribe::kernels
