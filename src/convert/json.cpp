#include "convert/json.h"

#include <fmt/format.h>

#include <limits>
#include <stdexcept>
#include <unordered_set>

#include "base/text.h"
#include "tensor/mapped_file.h"

namespace transcribe {

namespace {

constexpr int depth_max = 32;
constexpr size_t text_bytes_max = 64u << 20;

// Stops the parser by throwing; parse_json catches.
class Guard {
  public:
    bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
        if (depth > depth_max) throw std::runtime_error("it is nested too deeply");
        if (event == Json::parse_event_t::key && depth == 1) {
            const auto& key = parsed.get_ref<const std::string&>();
            if (!keys_.insert(key).second) {
                throw std::runtime_error(
                    fmt::format("\"{}\" stands in it twice", printable(key, 80)));
            }
        }
        return true;
    }

  private:
    std::unordered_set<std::string> keys_;
};

}  // namespace

Expected<Json> parse_json(std::string_view text, const std::string& where) {
    try {
        Guard guard;
        return Json::parse(text, std::ref(guard));
    } catch (const Json::parse_error& e) {
        return Error{Code::bad_model, fmt::format("{}: not valid JSON at byte {} of {}", where,
                                                  e.byte, text.size())};
    } catch (const std::exception& e) {
        return Error{Code::bad_model, fmt::format("{}: bad JSON: {}", where, e.what())};
    }
}

Expected<std::string> read_text(const std::string& path) {
    TRY_SET(auto file, MappedFile::open(path));
    auto bytes = file.bytes();
    if (bytes.size() > text_bytes_max) {
        return Error{Code::bad_model, fmt::format("{}: {} bytes, more than {}", printable(path),
                                                  bytes.size(), text_bytes_max)};
    }
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Expected<Json> read_json(const std::string& path) {
    TRY_SET(auto text, read_text(path));
    TRY_SET(auto json, parse_json(text, printable(path)));
    if (!json.is_object()) {
        return Error{Code::bad_model, fmt::format("{}: not a JSON object", printable(path))};
    }
    return json;
}

Expected<Json> read_json_if_any(const std::string& path) {
    auto json = read_json(path);
    if (!json && json.error().code == Code::not_found) return Json();
    return json;
}

std::optional<int> json_int(const Json& value) {
    if (!value.is_number_integer()) return std::nullopt;
    constexpr auto max = std::numeric_limits<int>::max(), min = std::numeric_limits<int>::min();
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > max) return std::nullopt;
    auto n = value.get<std::int64_t>();
    if (n < min || n > max) return std::nullopt;
    return static_cast<int>(n);
}

const Json* JsonReader::find(const char* key) const {
    if (!object_->is_object()) return nullptr;
    auto found = object_->find(key);
    return found == object_->end() || found->is_null() ? nullptr : &*found;
}

void JsonReader::fault(const char* key, std::string_view wanted) const {
    problems_->add(fmt::format("{} in {} is not {}", key, where_, wanted));
}

int JsonReader::i32(const char* key, int lo, int hi) const {
    const Json* value = find(key);
    auto n = value ? json_int(*value) : std::nullopt;
    if (n && *n >= lo && *n <= hi) return *n;
    if (value) {
        fault(key, fmt::format("an integer from {} to {}", lo, hi));
    } else {
        problems_->add(fmt::format("{} is missing in {}", key, where_));
    }
    return lo;
}

std::optional<int> JsonReader::maybe_i32(const char* key) const {
    const Json* value = find(key);
    if (!value) return std::nullopt;
    auto n = json_int(*value);
    if (!n) fault(key, "an integer");
    return n;
}

double JsonReader::f64_or(const char* key, double fallback) const {
    const Json* value = find(key);
    if (!value) return fallback;
    if (!value->is_number()) fault(key, "a number");
    return value->is_number() ? value->get<double>() : fallback;
}

bool JsonReader::flag_or(const char* key, bool fallback) const {
    const Json* value = find(key);
    if (!value) return fallback;
    if (!value->is_boolean()) fault(key, "true or false");
    return value->is_boolean() ? value->get<bool>() : fallback;
}

std::string JsonReader::str_or(const char* key, std::string fallback) const {
    const Json* value = find(key);
    if (!value) return fallback;
    if (!value->is_string()) fault(key, "a string");
    return value->is_string() ? value->get<std::string>() : fallback;
}

std::optional<std::vector<int>> JsonReader::ints(const char* key) const {
    const Json* value = find(key);
    if (!value) return std::nullopt;
    std::vector<int> out;
    bool good = value->is_array();
    for (size_t i = 0; good && i < value->size(); i++) {
        auto n = json_int((*value)[i]);
        good = n.has_value();
        out.push_back(n.value_or(0));
    }
    if (good) return out;
    fault(key, "a list of integers");
    return std::nullopt;
}

}  // namespace transcribe
