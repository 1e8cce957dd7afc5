#include "tensor/gguf.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"

namespace transcribe {

const GgufTensor* Gguf::find(std::string_view name) const {
    auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &parts_.tensors[found->second];
}

namespace {

std::string_view kind_of(const GgufValue& value) {
    constexpr std::string_view kinds[] = {
        "a boolean",          "an integer",        "a number",         "a string",
        "a list of integers", "a list of numbers", "a list of strings"};
    return kinds[value.index()];
}

const GgufValue* lookup(const Gguf& file, const std::string& key) {
    auto found = file.values().find(key);
    return found == file.values().end() ? nullptr : &found->second;
}

// The value of `key` where it is a T. A fault and nullptr where it is something else; nullptr where
// it is absent.
template <class T>
const T* typed(const Gguf& file, const std::string& key, std::string_view wanted,
               Problems& problems) {
    const GgufValue* value = lookup(file, key);
    if (!value) return nullptr;
    if (auto* got = std::get_if<T>(value)) return got;
    problems.add(fmt::format("{} is {}, not {}", key, kind_of(*value), wanted));
    return nullptr;
}

bool fits_int(i64 v) {
    return v >= std::numeric_limits<int>::min() && v <= std::numeric_limits<int>::max();
}

}  // namespace

KvReader KvReader::at(std::string_view child) const {
    return {*file_, *problems_, fmt::format("{}{}.", prefix_, child)};
}

bool KvReader::has(const char* key) const {
    return lookup(*file_, prefix_ + key) != nullptr;
}

int KvReader::i32(const char* key, int lo, int hi) const {
    if (!has(key)) {
        problems_->add(fmt::format("{}{} is missing", prefix_, key));
        return lo;
    }
    auto* value = typed<i64>(*file_, prefix_ + key, "an integer", *problems_);
    if (!value) return lo;
    if (*value >= lo && *value <= hi) return static_cast<int>(*value);
    problems_->add(fmt::format("{}{} is {}, not within {} to {}", prefix_, key, *value, lo, hi));
    return lo;
}

int KvReader::i32_or(const char* key, int fallback) const {
    auto* value = typed<i64>(*file_, prefix_ + key, "an integer", *problems_);
    if (!value) return fallback;
    if (fits_int(*value)) return static_cast<int>(*value);
    problems_->add(fmt::format("{}{} is {}, which is out of range", prefix_, key, *value));
    return fallback;
}

float KvReader::f32_or(const char* key, float fallback) const {
    const GgufValue* any = lookup(*file_, prefix_ + key);
    if (any && std::holds_alternative<i64>(*any)) return static_cast<float>(std::get<i64>(*any));
    auto* value = typed<double>(*file_, prefix_ + key, "a number", *problems_);
    if (!value) return fallback;
    if (std::isfinite(*value)) return static_cast<float>(*value);
    problems_->add(fmt::format("{}{} is {}, not a finite number", prefix_, key, *value));
    return fallback;
}

bool KvReader::flag_or(const char* key, bool fallback) const {
    auto* value = typed<bool>(*file_, prefix_ + key, "a boolean", *problems_);
    return value ? *value : fallback;
}

std::string KvReader::str(const char* key) const {
    if (!has(key)) problems_->add(fmt::format("{}{} is missing", prefix_, key));
    return str_or(key, "");
}

std::string KvReader::str_or(const char* key, std::string fallback) const {
    auto* value = typed<std::string>(*file_, prefix_ + key, "a string", *problems_);
    return value ? *value : fallback;
}

std::vector<int> KvReader::ints(const char* key) const {
    auto* values = typed<std::vector<i64>>(*file_, prefix_ + key, "a list of integers", *problems_);
    if (!values) return {};
    if (!std::all_of(values->begin(), values->end(), fits_int)) {
        problems_->add(fmt::format("{}{} holds a number that is out of range", prefix_, key));
        return {};
    }
    return {values->begin(), values->end()};
}

std::vector<std::string> KvReader::strs(const char* key) const {
    using Strings = std::vector<std::string>;
    auto* values = typed<Strings>(*file_, prefix_ + key, "a list of strings", *problems_);
    return values ? *values : Strings{};
}

void KvReader::require(bool holds, std::string_view rule) const {
    if (!holds) problems_->add(fmt::format("it does not hold that {}", rule));
}

}  // namespace transcribe
