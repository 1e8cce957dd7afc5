// Exact GELU on the CPU, vectorized: ggml's own calls the C library's erf once a value, which costs
// a tenth of an encoder pass.
#pragma once

#include "tensor/graph.h"

namespace transcribe {

// gelu(x), gelu(x + bias) as a node computed by the graph's threads; in place on x.
Tensor host_gelu(Tensor x);
Tensor host_gelu(Tensor x, Weight bias);

// out[i] = gelu(x[i] + bias[i]); bias may be null. Error against the exact function: below 3.5e-7
// relative to max(1, |x|).
void gelu_row(const float* x, const float* bias, float* out, int n);

}  // namespace transcribe
