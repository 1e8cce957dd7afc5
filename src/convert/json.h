// JSON of a checkpoint, which is untrusted: sizes, depth and repeated keys are checked while
// parsing, and no exception of the JSON library leaves these functions.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace transcribe {

using Json = nlohmann::json;

// `where` names the text in errors. Errors: bad_model.
Expected<Json> parse_json(std::string_view text, const std::string& where);
// Errors: not_found, io, bad_model.
Expected<Json> read_json(const std::string& path);
// The same; null where the file does not exist.
Expected<Json> read_json_if_any(const std::string& path);
// A whole text file of at most 64 MB.
Expected<std::string> read_text(const std::string& path);

// Fields of a JSON object. A field that is absent or null is nothing; one of the wrong kind is a
// fault.
class JsonReader {
  public:
    JsonReader(const Json& object, Problems& problems, std::string where)
        : object_(&object), problems_(&problems), where_(std::move(where)) {}
    // Required, within [lo, hi]; on a fault `lo` comes back.
    int i32(const char* key, int lo, int hi) const;
    std::optional<int> maybe_i32(const char* key) const;
    double f64_or(const char* key, double fallback) const;
    bool flag_or(const char* key, bool fallback) const;
    std::string str_or(const char* key, std::string fallback) const;
    std::optional<std::vector<int>> ints(const char* key) const;

  private:
    const Json* find(const char* key) const;
    void fault(const char* key, std::string_view wanted) const;

    const Json* object_;
    Problems* problems_;
    std::string where_;
};

// The number as an int, where it is one that fits.
std::optional<int> json_int(const Json& value);

}  // namespace transcribe
