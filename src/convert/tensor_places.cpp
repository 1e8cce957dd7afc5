#include "convert/tensor_places.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace transcribe {

const SourceTensor* TensorPlaces::take(const std::string& name, const std::vector<i64>& shape) {
    const SourceTensor* source = from_.find(name);
    taken_.insert(name);
    if (!source) {
        fault(fmt::format("the tensor {} is missing", name));
    } else if (source->shape != shape) {
        fault(fmt::format("the tensor {} is {}, not {}", name, shape_text(source->shape),
                          shape_text(shape)));
    } else if (is_integer(source->type) && source->type != Dtype::i8) {
        fault(fmt::format("the tensor {} holds integers of an unknown scale", name));
    } else {
        return source;
    }
    return nullptr;
}

void TensorPlaces::take_tied_head(std::string_view name, const SourceTensor* embedding) {
    const SourceTensor* head = from_.find(name);
    if (!head || !embedding) return;
    skip(name);
    bool same = head->type == embedding->type && std::ranges::equal(head->data, embedding->data);
    if (!same) fault(fmt::format("the output head {} is not the token embedding", name));
}

Status TensorPlaces::done(std::string_view family) {
    for (const auto& [name, tensor] : from_.tensors) {
        if (tensor.shape.empty() || taken_.contains(name)) continue;
        fault(fmt::format("the tensor {} is not one of {}'s", printable(name, 80), family));
    }
    return problems_.done(Code::bad_model, printable(from_.directory, 1000));
}

}  // namespace transcribe
