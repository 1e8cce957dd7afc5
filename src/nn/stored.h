// ggml's types in the kernels' terms.
#pragma once

#include <ggml.h>

#include "kernels/product.h"

namespace transcribe {

inline kernels::Stored stored(const ggml_tensor& t) {
    switch (t.type) {
        case GGML_TYPE_F32: return kernels::Stored::f32;
        case GGML_TYPE_F16: return kernels::Stored::f16;
        case GGML_TYPE_BF16: return kernels::Stored::bf16;
        case GGML_TYPE_Q8_0: return kernels::Stored::q8_0;
        default: return kernels::Stored::blocks;
    }
}

inline kernels::Matrix matrix_of(const ggml_tensor& w) {
    return {w.data, stored(w), w.nb[1], ggml_get_type_traits(w.type)->to_float};
}

}  // namespace transcribe
