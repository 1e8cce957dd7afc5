// The vocabulary of forward functions. One sentence each; shapes fastest first.
#pragma once

#include "kernels/activation.h"
#include "tensor/graph.h"

namespace transcribe {

// Rows of a table: table [d, V], ids i32 [n] -> [d, n].
Tensor rows(Weight table, Tensor ids);
// x [d, n] rows picked by index i32 [m] -> [d, m].
Tensor rows(Tensor x, Tensor index);
using kernels::Activation;
// activation(W x + bias): w [in, out], x [in, n...] -> [out, n...]; sums in F32.
Tensor product(Weight w, Tensor x, Weight bias = {}, Activation activation = Activation::none);
Tensor reshape(Tensor x, const Shape&);
// x * Phi(x), the exact form (erf), as the reference has it.
Tensor gelu(Tensor x);
// gelu(x + bias) in one pass: bias [ne0].
Tensor gelu(Tensor x, Weight bias);
Tensor relu(Tensor x);
Tensor square_root(Tensor x);
// silu(gate) * x, of one shape: silu(v) = v / (1 + exp(-v)).
Tensor swiglu(Tensor gate, Tensor x);
// Rows of two tensors, one behind the other: [d, n], [d, m] -> [d, n + m].
Tensor join_rows(Tensor a, Tensor b);
// [a, b, n...] -> [b, a, n...], copied.
Tensor swap_fastest(Tensor x);
// One row of zeros before and after: [d, T, B] -> [d, T + 2, B].
Tensor pad_rows(Tensor x);
// [dh * H, T, B] -> [dh, T, H, B], a view.
Tensor split_heads(Tensor x, int n_heads);

}  // namespace transcribe
