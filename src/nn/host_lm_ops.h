// Nodes of language models that our own kernels compute (CPU only).
#pragma once

#include "nn/ops.h"

namespace transcribe {

// See RmsNorm in nn/norm.h, over rows of the weight's size: x [m * dh, n] with a weight [dh]
// normalizes every dh values on their own.
Tensor host_rms_norm(Tensor x, Weight weight, float eps);

// See Rope in nn/rope.h: pos i32 [n] -> [dh, n], dh / 2 cosines and as many sines.
Tensor host_turns(Tensor pos, i64 d_head, float theta);
// x [dh * H, n], turns [dh, n] -> [dh * H, n]
Tensor host_turn(Tensor x, Tensor turns);

// silu(gate) * x, of one shape.
Tensor host_swiglu(Tensor gate, Tensor x);

}  // namespace transcribe
