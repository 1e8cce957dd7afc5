// Layer normalization over the fastest axis (Ba et al. 2016), eps 1e-5 unless a family says
// otherwise.
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

}  // namespace transcribe
