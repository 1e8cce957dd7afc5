// Functions of one value that follow on a product.
#pragma once

namespace transcribe::kernels {

enum class Activation {
    none,
    gelu,  // x * Phi(x), the exact one; error below 3.5e-7 max(1, |x|)
    silu,  // x * sigmoid(x)
    relu,
};

}  // namespace transcribe::kernels
