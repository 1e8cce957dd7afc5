// Nodes of nn/frames.h that our own kernels compute (CPU only). `seen` f32 [1, T, B].
#pragma once

#include "nn/ops.h"

namespace transcribe {

// w [C, 3, 3], bias [C], x [C or 1, W, T, B] -> [C, W', T', B]
Tensor host_halving(Weight w, Weight bias, Tensor x, Tensor seen, Activation f);

// w [C, n_taps], bias [C], x [2 C, T, B] -> [C, T, B]
Tensor host_gated_conv(Weight w, Weight bias, Tensor x, Tensor seen);

// What attention with relative positions is made of.
struct RelativeInputs {
    Tensor q, k, v;                // [d, T, B]
    Tensor table;                  // [d, 2 T - 1]: positions as keys
    Weight to_keys, to_positions;  // [d / H, H]
    Tensor seen;
};
// -> [d, T, B]
Tensor host_relative_attention(const RelativeInputs& in, int n_heads);

}  // namespace transcribe
