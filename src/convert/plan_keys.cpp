#include "convert/plan_keys.h"

#include <fmt/format.h>

#include <algorithm>

namespace transcribe {

std::string size_label(const std::vector<PlannedTensor>& tensors) {
    double n = 0;
    for (const PlannedTensor& tensor : tensors) {
        i64 n_elements = 0;
        shape_elements(tensor.shape, n_elements);
        if (tensor.source) n += static_cast<double>(n_elements);
    }
    return n < 1e9 ? fmt::format("{:.0f}M", n / 1e6) : fmt::format("{:.1f}B", n / 1e9);
}

Dtype reference_dtype(const std::vector<PlannedTensor>& tensors) {
    auto has = [&](Dtype type) {
        return std::ranges::any_of(
            tensors, [&](const auto& t) { return t.source && t.source->type == type; });
    };
    if (has(Dtype::i8)) return Dtype::f16;
    bool mixed = has(Dtype::f16) && has(Dtype::bf16);
    if (has(Dtype::f32) || mixed) return Dtype::f32;
    return has(Dtype::bf16) ? Dtype::bf16 : Dtype::f16;
}

}  // namespace transcribe
