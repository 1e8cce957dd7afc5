// Finds each tensor of a source its place: the mapping of a family takes tensors by name and shape,
// and what nobody took at the end is a fault.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "convert/checkpoint.h"

namespace transcribe {

class TensorPlaces {
  public:
    explicit TensorPlaces(const Checkpoint& from) : from_(from) {}

    // Null, with a fault noted, where the source has no such tensor.
    const SourceTensor* take(const std::string& name, const std::vector<i64>& shape);
    // The output head, when the source has one, must be the token embedding; it has no place of its
    // own.
    void take_tied_head(std::string_view name, const SourceTensor* embedding);
    void skip(std::string_view name) { taken_.emplace(name); }
    void fault(std::string what) { problems_.add(std::move(what)); }
    // All faults, of which tensors that are left over are some. `family`: "Whisper".
    Status done(std::string_view family);

  private:
    const Checkpoint& from_;
    std::set<std::string, std::less<>> taken_;
    Problems problems_;
};

}  // namespace transcribe
