// Element types over ggml's type table. The names and numbers that files use are ours to list;
// sizes, quantizers and conversions are ggml's, so that a file from here equals one from any ggml
// tool.
#include "tensor/dtype.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "base/check.h"
#include "ggml.h"

namespace transcribe {

namespace {

struct Named {
    Dtype dtype;
    std::string_view name;
};

constexpr std::array<Named, 15> names = {{
    {Dtype::f32, "f32"},
    {Dtype::f16, "f16"},
    {Dtype::bf16, "bf16"},
    {Dtype::q8_0, "q8_0"},
    {Dtype::q6_k, "q6_k"},
    {Dtype::q5_k, "q5_k"},
    {Dtype::q4_k, "q4_k"},
    {Dtype::q5_0, "q5_0"},
    {Dtype::q5_1, "q5_1"},
    {Dtype::q4_0, "q4_0"},
    {Dtype::q4_1, "q4_1"},
    {Dtype::i8, "i8"},
    {Dtype::i16, "i16"},
    {Dtype::i32, "i32"},
    {Dtype::i64, "i64"},
}};

static_assert(static_cast<int>(Dtype::q8_0) == GGML_TYPE_Q8_0);
static_assert(static_cast<int>(Dtype::q6_k) == GGML_TYPE_Q6_K);
static_assert(static_cast<int>(Dtype::i8) == GGML_TYPE_I8);
static_assert(static_cast<int>(Dtype::i32) == GGML_TYPE_I32);
static_assert(static_cast<int>(Dtype::bf16) == GGML_TYPE_BF16);

ggml_type ggml_of(Dtype dtype) {
    return static_cast<ggml_type>(dtype);
}

}  // namespace

std::string_view dtype_name(Dtype dtype) {
    for (const Named& n : names) {
        if (n.dtype == dtype) return n.name;
    }
    return {};
}

std::optional<Dtype> dtype_named(std::string_view name) {
    for (const Named& n : names) {
        if (n.name == name) return n.dtype;
    }
    return std::nullopt;
}

i64 block_elements(Dtype dtype) {
    return dtype_name(dtype).empty() ? 0 : ggml_blck_size(ggml_of(dtype));
}

bool is_quantized(Dtype dtype) {
    return block_elements(dtype) > 1;
}

bool is_integer(Dtype dtype) {
    return dtype == Dtype::i8 || dtype == Dtype::i16 || dtype == Dtype::i32 || dtype == Dtype::i64;
}

size_t row_bytes(Dtype dtype, i64 n) {
    i64 block = block_elements(dtype);
    if (block == 0 || n <= 0 || n % block != 0) return 0;
    size_t block_bytes = ggml_type_size(ggml_of(dtype));
    auto n_blocks = static_cast<size_t>(n / block);
    return n_blocks > std::numeric_limits<size_t>::max() / block_bytes ? 0 : n_blocks * block_bytes;
}

void to_f32(Dtype from, const void* src, float* dst, i64 n) {
    CHECK(row_bytes(from, n) > 0);
    if (from == Dtype::f32) {
        std::memcpy(dst, src, static_cast<size_t>(n) * sizeof(float));
        return;
    }
    auto convert = ggml_get_type_traits(ggml_of(from))->to_float;
    CHECK(convert != nullptr && !is_integer(from));
    if (reinterpret_cast<std::uintptr_t>(src) % alignof(float) == 0) return convert(src, dst, n);
    std::vector<float> aligned(row_bytes(from, n) / sizeof(float) + 1);
    std::memcpy(aligned.data(), src, row_bytes(from, n));
    convert(aligned.data(), dst, n);
}

void from_f32(Dtype to, const float* src, void* dst, i64 n_rows, i64 n_per_row) {
    CHECK(row_bytes(to, n_per_row) > 0 && !is_integer(to));
    ggml_quantize_chunk(ggml_of(to), src, dst, 0, n_rows, n_per_row, nullptr);
}

}  // namespace transcribe
