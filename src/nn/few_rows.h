// Products of F16 and BF16 weights with a few F32 rows (decoder steps), without rounding the rows
// to that type as ggml does: exact, and the weights are read once whatever the number of rows.
#pragma once

#include "tensor/graph.h"

namespace transcribe {

// Whether this processor has the instructions (AVX2, FMA, F16C); elsewhere ggml's product is used.
bool has_few_rows_product();

// w F16 or BF16 [in, out], x F32 [in, n] -> [out, n] as a node computed by the graph's threads (CPU
// only).
Tensor few_rows_product(Weight w, Tensor x);

}  // namespace transcribe
