// Element types of stored tensors; the numbers are ggml's and stand in files.
#pragma once

#include <optional>
#include <string_view>

#include "base/audio_source.h"

namespace transcribe {

#ifdef __GNUC__  // gcc counts Dtype::i64 as a shadow of the type i64
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif
enum class Dtype : int {
    f32 = 0,
    f16 = 1,
    q4_0 = 2,
    q4_1 = 3,
    q5_0 = 6,
    q5_1 = 7,
    q8_0 = 8,
    q4_k = 12,
    q5_k = 13,
    q6_k = 14,
    i8 = 24,
    i16 = 25,
    i32 = 26,
    i64 = 27,
    bf16 = 30,
};
#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif

// "f32", "f16", "bf16", "q8_0", "q6_k", ...; empty for a number that is none of the above.
std::string_view dtype_name(Dtype);
std::optional<Dtype> dtype_named(std::string_view name);
// Bytes of a row of n elements; 0 when the type is unknown or n is not a multiple of its block.
size_t row_bytes(Dtype, i64 n);
i64 block_elements(Dtype);
bool is_quantized(Dtype);  // in blocks of elements that share a scale
bool is_integer(Dtype);    // holds ids or codes, no weights

// Rows of n elements: from any type to F32, from F32 to F32, F16, BF16 or a quantized type (ggml's
// own quantizers). n must be a multiple of the block. `src` of to_f32 need not be aligned.
void to_f32(Dtype from, const void* src, float* dst, i64 n);
void from_f32(Dtype to, const float* src, void* dst, i64 n_rows, i64 n_per_row);

}  // namespace transcribe
