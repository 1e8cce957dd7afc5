#include "nn/packing.h"

#include "kernels/product.h"
#include "nn/host_node.h"
#include "nn/stored.h"

namespace transcribe {

namespace {

// Intel's sums of bfloat16 numbers take twice as long as its sums of floats.
bool gains_by_bf16() {
#if defined(__x86_64__) && defined(__GNUC__)
    static const bool gains = kernels::is_native(Rounding::bf16) && __builtin_cpu_is("amd");
    return gains;
#else
    return false;
#endif
}

size_t n_floats(const ggml_tensor& w) {
    return kernels::n_weight_floats(count(w.ne[0]), count(ggml_nrows(&w)));
}

void pack(const ggml_tensor& w, float* to, size_t i, size_t n) {
    kernels::pack_weights(matrix_of(w), count(w.ne[0]), count(ggml_nrows(&w)), to, i, n);
}

}  // namespace

Rounding rounding_of(Precision wanted, bool is_good_in_int8) {
    switch (wanted) {
        case Precision::f32: return Rounding::none;
        case Precision::bf16: return Rounding::bf16;
        case Precision::int8: return Rounding::int8;
        case Precision::automatic: break;
    }
    if (is_good_in_int8 && kernels::is_native(Rounding::int8)) return Rounding::int8;
    return gains_by_bf16() ? Rounding::bf16 : Rounding::none;
}

Packer int8_packer(int n_threads) {
    return {n_floats, pack, n_threads};
}

}  // namespace transcribe
