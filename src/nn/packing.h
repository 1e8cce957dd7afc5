// Weights as our own products like to read them, made when a model is loaded (CPU only).
#pragma once

#include "base/rounding.h"
#include "tensor/weights.h"

namespace transcribe {

// What `wanted` means for a model on this processor. 8 bits by themselves only where the processor
// gains by it and the family's texts do not suffer.
Rounding rounding_of(Precision wanted, bool is_good_in_int8);

// Keeps matrices in 8 bits beside what the file holds; host_product() finds them there.
Packer int8_packer(int n_threads);

}  // namespace transcribe
