// Convolution over time, kernel 3, as one product: frames lie one after another, so three
// neighbouring frames are one row of 3*C_in values, a view whose rows overlap.
#pragma once

#include "nn/ops.h"
#include "tensor/weights.h"

namespace transcribe {

struct Conv3 {
    Weight w, b;  // w [3 * C_in, C_out]: the file's [3, C_in, C_out] with the input channel fastest
    int stride = 1;

    void bind(Scope s, i64 n_in, i64 n_out, int stride_frames);
    // x [C_in, T, B] -> [C_out, T / stride, B], without bias; one frame of zeros stands at both
    // ends
    Tensor operator()(Tensor x) const;
};

}  // namespace transcribe
