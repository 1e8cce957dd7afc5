// Normalization over the fastest axis: by mean and variance (Ba et al. 2016; eps 1e-5 unless a
// family says otherwise), or by the root of the mean square (Zhang and Sennrich 2019).
#pragma once

#include "nn/ops.h"
#include "tensor/weights.h"

namespace transcribe {

// (x - mean) / sqrt(variance + eps) * weight + bias
Tensor layer_norm(Tensor x, Weight weight, Weight bias, float eps);

struct LayerNorm {
    Weight w, b;
    float eps = 1e-5f;

    void bind(Scope s, i64 d) {
        w = s.need("weight", Role::vector, {d});
        b = s.need("bias", Role::vector, {d});
    }
    // [d, n...] -> [d, n...]
    Tensor operator()(Tensor x) const { return layer_norm(x, w, b, eps); }
};

// x / sqrt(mean of x^2 + eps) * weight: weight [dh], x [m * dh, n...], every dh values on their own
Tensor rms_norm(Tensor x, Weight weight, float eps);

struct RmsNorm {
    Weight w;
    float eps = 1e-6f;

    void bind(Scope s, i64 d, float of_family) {
        w = s.need("weight", Role::vector, {d});
        eps = of_family;
    }
    // [d, n...] -> [d, n...]
    Tensor operator()(Tensor x) const { return rms_norm(x, w, eps); }
};

}  // namespace transcribe
