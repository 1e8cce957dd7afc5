// The format: u64 length of a JSON header, the header {name: {dtype, shape, data_offsets}}, the
// data. Offsets count from the data's start and must tile it without gap or overlap, so that
// nothing is read twice and nothing hides between tensors.
#include "convert/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include "base/text.h"
#include "convert/json.h"

namespace transcribe {

namespace {

using Bytes = std::span<const std::byte>;

constexpr std::uint64_t header_bytes_max = 64u << 20;
constexpr size_t n_dims_max = 8;

struct Entry {
    std::string name;
    SourceTensor tensor;
    std::uint64_t begin = 0, end = 0;
};

std::optional<Dtype> source_type(const std::string& name) {
    if (name == "F32") return Dtype::f32;
    if (name == "F16") return Dtype::f16;
    if (name == "BF16") return Dtype::bf16;
    if (name == "I64") return Dtype::i64;  // counters of training
    return std::nullopt;
}

std::optional<std::uint64_t> json_u64(const Json& value) {
    if (!value.is_number_unsigned()) return std::nullopt;
    return value.get<std::uint64_t>();
}

// The fault in words; empty when the shape is good.
std::string read_shape(const Json& json, std::vector<i64>& shape) {
    if (!json.is_array() || json.size() > n_dims_max) return "its shape is not a list of up to 8";
    for (const Json& dim : json) {
        auto n = json_u64(dim);
        if (!n || *n > (std::uint64_t{1} << 60)) return "its shape holds what is no size";
        shape.push_back(static_cast<i64>(*n));
    }
    return {};
}

std::string read_entry(const Json& json, Entry& entry) {
    if (!json.is_object()) return "its entry is not an object";
    auto field = [&](const char* key) { return json.value(key, Json()); };
    Json dtype = field("dtype"), offsets = field("data_offsets");
    auto type = dtype.is_string() ? source_type(dtype.get<std::string>()) : std::nullopt;
    if (!type)
        return fmt::format("its dtype {} is not F32, F16, BF16 or I64",
                           printable(dtype.dump(), 40));
    entry.tensor.type = *type;
    if (std::string fault = read_shape(field("shape"), entry.tensor.shape); !fault.empty())
        return fault;
    bool pair = offsets.is_array() && offsets.size() == 2;
    auto begin = pair ? json_u64(offsets[0]) : std::nullopt;
    auto end = pair ? json_u64(offsets[1]) : std::nullopt;
    if (!begin || !end || *begin > *end) return "its data_offsets are not two increasing numbers";
    entry.begin = *begin, entry.end = *end;
    if (!shape_fills(entry.tensor.shape, *type, *end - *begin)) {
        return fmt::format("its shape {} does not give the {} bytes of its data_offsets",
                           shape_text(entry.tensor.shape), *end - *begin);
    }
    return {};
}

// Hands each entry its data. The fault in words.
std::string place(std::vector<Entry>& entries, Bytes data) {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    std::uint64_t at = 0;
    for (Entry& e : entries) {
        std::string name = printable(e.name, 80);
        if (e.begin != at)
            return fmt::format("the data of {} does not follow on the one before", name);
        if (e.end > data.size()) {
            return fmt::format("the file is cut: {} needs {} bytes of data, and {} are there", name,
                               e.end, data.size());
        }
        e.tensor.data = data.subspan(e.begin, e.end - e.begin);
        at = e.end;
    }
    if (at != data.size()) return fmt::format("{} bytes follow the last tensor", data.size() - at);
    return {};
}

Expected<std::vector<Entry>> read_entries(Bytes file, const std::string& shown) {
    auto bad = [&](std::string fault) { return Error{Code::bad_model, shown + ": " + fault}; };
    std::uint64_t n_header = 0;
    if (file.size() < sizeof n_header) {
        return bad(fmt::format("not a safetensors file: {} bytes", file.size()));
    }
    std::memcpy(&n_header, file.data(), sizeof n_header);
    file = file.subspan(sizeof n_header);
    std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
    if (n_header > header_bytes_max || !text.starts_with('{')) {
        return bad("not a safetensors file: it does not begin with a header");
    }
    if (n_header > file.size()) {
        return bad(fmt::format("the file is cut: its header needs {} bytes, and {} are there",
                               n_header, file.size()));
    }
    TRY_SET(auto header, parse_json(text.substr(0, n_header), shown));
    std::vector<Entry> entries;
    for (const auto& [name, json] : header.items()) {
        if (name == "__metadata__") continue;
        Entry& entry = entries.emplace_back();
        entry.name = name;
        std::string fault = read_entry(json, entry);
        if (!fault.empty()) return bad(fmt::format("tensor {}: {}", printable(name, 80), fault));
    }
    std::string fault = place(entries, file.subspan(n_header));
    if (!fault.empty()) return bad(fault);
    return entries;
}

// The shards that the index names. A name with a path in it could reach out of the directory.
Expected<std::set<std::string>> shard_names(const Json& index, const std::string& shown) {
    auto bad = [&](std::string fault) { return Error{Code::bad_model, shown + ": " + fault}; };
    auto map = index.find("weight_map");
    if (map == index.end() || !map->is_object()) return bad("weight_map is missing");
    std::set<std::string> names;
    for (const auto& [tensor, file] : map->items()) {
        auto* name = file.get_ptr<const std::string*>();
        if (!name || name->empty() || name->find_first_of("/\\:") != std::string::npos) {
            return bad(fmt::format("the file of {} is not a plain name", printable(tensor, 80)));
        }
        names.insert(*name);
    }
    return names;
}

Status read_shards(const Json& index, const std::string& shown, Checkpoint& into) {
    TRY_SET(auto names, shard_names(index, shown));
    for (const std::string& name : names) TRY(read_safetensors(into.path(name), into));
    for (const auto& [tensor, file] : index["weight_map"].items()) {
        if (into.find(tensor)) continue;
        return Error{Code::bad_model, fmt::format("{}: the tensor {} is in none of the files",
                                                  shown, printable(tensor, 80))};
    }
    return {};
}

}  // namespace

Status read_safetensors(const std::string& path, Checkpoint& into) {
    TRY_SET(auto file, MappedFile::open(path));
    TRY_SET(auto entries, read_entries(file.bytes(), printable(path)));
    into.files.push_back(std::move(file));
    for (Entry& entry : entries) {
        if (into.tensors.emplace(entry.name, std::move(entry.tensor)).second) continue;
        return Error{Code::bad_model, fmt::format("{}: the tensor {} is in another file as well",
                                                  printable(path), printable(entry.name, 80))};
    }
    return {};
}

namespace {

// NeMo's speech language models name no model_type.
std::string architecture_of(const Json& config) {
    if (config.contains("perception") && config.contains("pretrained_llm")) return "canary_qwen";
    const Json type = config.value("model_type", Json());
    return type.is_string() ? type.get<std::string>() : "unknown";
}

}  // namespace

Expected<Checkpoint> open_hugging_face(const std::string& directory) {
    Checkpoint checkpoint;
    checkpoint.format = Checkpoint::Format::hugging_face;
    checkpoint.directory = directory;
    TRY_SET(auto config, read_json(checkpoint.path("config.json")));
    checkpoint.architecture = architecture_of(config);
    std::string index_path = checkpoint.path("model.safetensors.index.json");
    TRY_SET(auto index, read_json_if_any(index_path));
    if (index.is_null()) {
        TRY(read_safetensors(checkpoint.path("model.safetensors"), checkpoint));
    } else {
        TRY(read_shards(index, printable(index_path), checkpoint));
    }
    return checkpoint;
}

}  // namespace transcribe
