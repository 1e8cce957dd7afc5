// What the operands of a model's products are rounded to; sums are in F32 all the same.
#pragma once

#include <optional>
#include <string_view>

namespace transcribe {

enum class Rounding {
    none,
    bf16,  // where many rows meet a matrix: both to bfloat16 numbers
    int8,  // groups of neighbours to whole numbers of 8 bits, each with a unit of its own
};

// What a caller asks for.
enum class Precision {
    automatic,  // the fastest of this processor that costs no accuracy that one could hear
    f32,
    bf16,
    int8,
};

// "auto", "f32", "bf16", "int8"; nothing of another name.
std::optional<Precision> precision_named(std::string_view name);

}  // namespace transcribe
