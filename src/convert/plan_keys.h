// What the mappings of all families have in common: the list of keys, and what follows from the
// tensors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "convert/model_plan.h"

namespace transcribe {

// Keys under a prefix, in the order of setting them.
class Keys {
  public:
    explicit Keys(std::string prefix = "") : prefix_(std::move(prefix)) {}
    template <class T>
    void set(const std::string& name, T value) {
        list.push_back({prefix_ + name, std::move(value)});
    }
    void set(const std::string& name, int value) { set(name, static_cast<std::uint32_t>(value)); }
    void set(const std::string& name, const char* value) { set(name, std::string(value)); }
    void set(const std::string& name, std::optional<int> value) {
        if (value) set(name, *value);
    }
    // Left out where it is empty.
    void set_ids(const std::string& name, const std::vector<int>& ids) {
        if (!ids.empty()) set(name, std::vector<std::int32_t>(ids.begin(), ids.end()));
    }
    std::vector<GgufKey> list;

  private:
    std::string prefix_;
};

// "39M", "2.5B": elements of all tensors of the source.
std::string size_label(const std::vector<PlannedTensor>& tensors);

// The type that keeps what the source holds: its own where all tensors agree, F32 for a mix. An
// int8 source becomes F16, whose rounding is far below its own.
Dtype reference_dtype(const std::vector<PlannedTensor>& tensors);

}  // namespace transcribe
