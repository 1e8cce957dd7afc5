// Which element type a weight is stored in, given its kind and the type asked for the whole file.
#pragma once

#include "base/audio_source.h"
#include "tensor/dtype.h"

namespace transcribe {

enum class Bucket {
    embedding,
    linear,
    attention_output,  // linear, and the most sensitive: Q8_0 in the mixed presets
    conv,
    exact,  // norms, biases, positional tables, front end: always F32
};

// Q4_K and Q5_K mean the mixed presets of the ecosystem (Q4_K_M, Q5_K_M). A row that does not fill
// whole blocks falls back to Q8_0 (from the K types), then to F16.
Dtype stored_dtype(Bucket, i64 n_per_row, Dtype asked);

// The `general.file_type` number. 0 (F32) for a type no file is asked in.
unsigned file_type(Dtype asked);

}  // namespace transcribe
