#include "base/rounding.h"

namespace transcribe {

std::optional<Precision> precision_named(std::string_view name) {
    if (name == "auto") return Precision::automatic;
    if (name == "f32") return Precision::f32;
    if (name == "bf16") return Precision::bf16;
    if (name == "int8") return Precision::int8;
    return std::nullopt;
}

}  // namespace transcribe
