// y = W x + b.
#pragma once

#include "nn/ops.h"
#include "tensor/weights.h"

namespace transcribe {

enum class Bias { none, yes };

struct Linear {
    Weight w, b;

    void bind(Scope s, i64 n_in, i64 n_out, Bias bias = Bias::yes) {
        w = s.need("weight", Role::matrix, {n_in, n_out});
        if (bias == Bias::yes) b = s.need("bias", Role::vector, {n_out});
    }
    // [in, n...] -> [out, n...]
    Tensor operator()(Tensor x) const { return product(w, x, b); }
};

}  // namespace transcribe
