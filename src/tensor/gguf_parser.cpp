// Gguf::open: the header of a GGUF file, read in one pass from its map.
//
// What bites: every number in the file may lie. Each count is checked against the bytes that are
// left before anything is allocated, and the limits below bound the memory that an honest-looking
// header can ask for. Strings are UTF-8 by convention only: they are made printable before they are
// shown.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "base/text.h"
#include "tensor/byte_reader.h"
#include "tensor/dtype.h"
#include "tensor/gguf.h"

namespace transcribe {

namespace {

using std::uint32_t;
using std::uint64_t;
using Bytes = std::span<const std::byte>;

constexpr uint64_t header_bytes_max = 256u << 20;
constexpr uint64_t list_elements_max = 4u << 20;  // of all lists together: 128 MB as strings
constexpr uint64_t key_bytes_min = 8 + 1 + 4 + 1;
constexpr uint64_t tensor_bytes_min = 8 + 1 + 4 + 8 + 4 + 8;
constexpr size_t tensor_name_bytes_max = 63;  // ggml's limit
constexpr uint32_t alignment_default = 32, alignment_min = 8, alignment_max = 65536;

enum class Kv : uint32_t { u8, i8, u16, i16, u32, i32, f32, flag, str, list, u64, i64, f64 };

// Bytes of one value (of a string: of its length); 0 for a list and for an unknown type.
size_t kv_bytes(Kv type) {
    constexpr size_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 8, 0, 8, 8, 8};
    auto number = static_cast<size_t>(type);
    return number < std::size(sizes) ? sizes[number] : 0;
}

// Sizes that do not fit 64 bits stay at the largest, which no file has.
constexpr uint64_t largest = std::numeric_limits<uint64_t>::max();
uint64_t saturating_product(uint64_t a, uint64_t b) {
    return a > largest / b ? largest : a * b;
}
uint64_t saturating_sum(uint64_t a, uint64_t b) {
    return a > largest - b ? largest : a + b;
}

struct Hint {
    std::string_view start, says;
};

constexpr std::array<Hint, 7> hints = {{
    {"version https://git-lfs", "a git-lfs pointer; fetch the file itself with `git lfs pull`"},
    {"<", "a web page or XML; the download went wrong, get the model file again"},
    {"PK\x03\x04", "a zip archive, such as PyTorch writes; convert the model first"},
    {"lmgg", "an old ggml .bin model; get or convert the model as GGUF"},
    {"{", "a JSON file; name the model's .gguf file"},
    {"\x80\x02", "a Python pickle; convert the model first"},
    {"\x06\0\0\0\x0c\0WhisperSpec", "a CTranslate2 model; convert its directory first"},
}};

std::string not_gguf(std::string_view bytes) {
    for (const Hint& hint : hints) {
        if (bytes.starts_with(hint.start)) return fmt::format("not a GGUF file but {}", hint.says);
    }
    return fmt::format("not a GGUF file: it begins with \"{}\"", printable(bytes.substr(0, 8)));
}

}  // namespace

class GgufParser {
  public:
    GgufParser(Gguf& out, Bytes file)
        : out_(out),
          file_(file),
          in_(file_.first(std::min<uint64_t>(file_.size(), header_bytes_max))) {}

    // The fault in words; empty when the file is whole.
    std::string parse();

  private:
    void parse_preamble();
    void parse_key();
    GgufValue parse_value(const std::string& key, Kv type);
    GgufValue parse_list(const std::string& key);
    i64 parse_int(Kv type);
    double parse_float(Kv type);
    bool parse_flag();
    std::string_view parse_string(std::string_view what);
    void check_keys();
    void parse_tensor();
    void parse_shape(GgufTensor& tensor);
    void place_tensors();
    void index_tensors();

    std::vector<GgufTensor>& tensors() { return out_.parts_.tensors; }
    static std::string shown(std::string_view name) { return printable(name, 80); }

    Gguf& out_;
    Bytes file_;
    ByteReader in_;
    uint64_t n_tensors_ = 0, n_keys_ = 0, n_elements_ = 0;
    uint32_t alignment_ = alignment_default;
    std::vector<uint64_t> offsets_, sizes_;  // of the tensors, in the order of the file
};

std::string GgufParser::parse() {
    parse_preamble();
    for (uint64_t i = 0; i < n_keys_ && in_.ok(); i++) parse_key();
    if (in_.ok()) check_keys();
    if (in_.ok() && n_tensors_ > 0) {
        tensors().reserve(n_tensors_);
        for (uint64_t i = 0; i < n_tensors_ && in_.ok(); i++) parse_tensor();
        if (in_.ok()) place_tensors();
    }
    if (in_.ok()) index_tensors();
    return in_.fault();
}

void GgufParser::parse_preamble() {
    if (file_.empty()) return in_.fail("the file is empty (0 bytes)");
    std::string_view start(reinterpret_cast<const char*>(file_.data()),
                           std::min<size_t>(file_.size(), 64));
    if (!start.starts_with("GGUF")) return in_.fail(not_gguf(start));
    in_.take(4, "the magic number");
    auto version = in_.get<uint32_t>("the version");
    if (in_.ok() && version != 2 && version != 3) {
        bool swapped = version != 0 && version % 65536 == 0;
        return in_.fail(
            swapped ? "the file is big-endian; only little-endian GGUF can be read"
                    : fmt::format("GGUF version {} is not supported, only 2 and 3", version));
    }
    n_tensors_ = in_.get<uint64_t>("the number of tensors");
    n_keys_ = in_.get<uint64_t>("the number of keys");
    auto check = [&](uint64_t n, const char* what, uint64_t bytes_min) {
        if (n <= in_.left() / bytes_min) return;
        in_.fail(fmt::format(
            "the file is cut or damaged: it claims {} {}, more than its {} bytes can hold", n, what,
            file_.size()));
    };
    check(n_tensors_, "tensors", tensor_bytes_min);
    check(n_keys_, "keys", key_bytes_min);
}

std::string_view GgufParser::parse_string(std::string_view what) {
    return in_.text(in_.get<uint64_t>(what), what);
}

void GgufParser::parse_key() {
    std::string_view name = parse_string("a key's name");
    std::string key(name);
    auto type = in_.get<Kv>("a key's type");
    if (!in_.ok()) return;
    if (key == "general.alignment" && type != Kv::u32) {
        return in_.fail("general.alignment is not of type u32");
    }
    size_t begin = in_.at() - sizeof(type);
    GgufValue value = parse_value(key, type);
    if (!in_.ok()) return;
    out_.keys_.push_back({name, file_.subspan(begin, in_.at() - begin)});
    bool added = out_.values_.emplace(key, std::move(value)).second;
    if (!added) in_.fail(fmt::format("the key {} stands in the file twice", shown(key)));
}

GgufValue GgufParser::parse_value(const std::string& key, Kv type) {
    switch (type) {
        case Kv::flag: return parse_flag();
        case Kv::str: return std::string(parse_string("a string"));
        case Kv::list: return parse_list(key);
        case Kv::f32:
        case Kv::f64: return parse_float(type);
        default: break;
    }
    if (kv_bytes(type) > 0) return parse_int(type);
    in_.fail(fmt::format("the key {} is of the unknown type {}", shown(key),
                         static_cast<uint32_t>(type)));
    return {};
}

bool GgufParser::parse_flag() {
    auto byte = in_.get<std::uint8_t>("a boolean");
    if (byte > 1) in_.fail(fmt::format("a boolean is {}, not 0 or 1", byte));
    return byte == 1;
}

double GgufParser::parse_float(Kv type) {
    return type == Kv::f32 ? in_.get<float>("a number") : in_.get<double>("a number");
}

i64 GgufParser::parse_int(Kv type) {
    constexpr std::string_view what = "an integer";
    switch (type) {
        case Kv::u8: return in_.get<std::uint8_t>(what);
        case Kv::i8: return in_.get<std::int8_t>(what);
        case Kv::u16: return in_.get<std::uint16_t>(what);
        case Kv::i16: return in_.get<std::int16_t>(what);
        case Kv::u32: return in_.get<uint32_t>(what);
        case Kv::i32: return in_.get<std::int32_t>(what);
        case Kv::flag: return parse_flag();
        case Kv::i64: return in_.get<i64>(what);
        default: break;
    }
    constexpr uint64_t max = std::numeric_limits<i64>::max();
    return static_cast<i64>(std::min(in_.get<uint64_t>(what), max));
}

GgufValue GgufParser::parse_list(const std::string& key) {
    auto type = in_.get<Kv>("a list's type");
    auto n = in_.get<uint64_t>("a list's length");
    size_t bytes_min = kv_bytes(type);
    if (in_.ok() && bytes_min == 0) {
        in_.fail(fmt::format("the key {} is a list of the {} type {}", shown(key),
                             type == Kv::list ? "unsupported" : "unknown",
                             static_cast<uint32_t>(type)));
    } else if (in_.ok() && n > in_.left() / bytes_min) {
        in_.fail(
            fmt::format("the file is cut or damaged: the list {} claims {} values, and {} bytes "
                        "are left",
                        shown(key), n, in_.left()));
    } else if (n > list_elements_max - n_elements_) {
        in_.fail(fmt::format("the lists hold more than {} values", list_elements_max));
    }
    if (!in_.ok()) return {};
    n_elements_ += n;
    auto fill = [&](auto values, auto&& parse_one) -> GgufValue {
        values.reserve(n);
        for (uint64_t i = 0; i < n && in_.ok(); i++) values.emplace_back(parse_one());
        return values;
    };
    if (type == Kv::str) {
        return fill(std::vector<std::string>(), [&] { return parse_string("a string"); });
    }
    if (type == Kv::f32 || type == Kv::f64) {
        return fill(std::vector<double>(), [&] { return parse_float(type); });
    }
    return fill(std::vector<i64>(), [&] { return parse_int(type); });
}

void GgufParser::check_keys() {
    auto arch = out_.values_.find("general.architecture");
    if (arch == out_.values_.end()) return in_.fail("the key general.architecture is missing");
    if (!std::holds_alternative<std::string>(arch->second)) {
        return in_.fail("the key general.architecture is not a string");
    }
    auto found = out_.values_.find("general.alignment");
    if (found == out_.values_.end()) return;
    i64 n = std::get<i64>(found->second);
    if (n < alignment_min || n > alignment_max || (n & (n - 1)) != 0) {
        return in_.fail(fmt::format("general.alignment is {}, not a power of two from {} to {}", n,
                                    alignment_min, alignment_max));
    }
    alignment_ = static_cast<uint32_t>(n);
}

void GgufParser::parse_tensor() {
    GgufTensor tensor;
    tensor.name = parse_string("a tensor's name");
    if (tensor.name.empty() || tensor.name.size() > tensor_name_bytes_max) {
        in_.fail(fmt::format("a tensor's name has {} bytes, not 1 to {}: {}", tensor.name.size(),
                             tensor_name_bytes_max, shown(tensor.name)));
    }
    parse_shape(tensor);
    auto type = in_.get<uint32_t>("a tensor's type");
    offsets_.push_back(in_.get<uint64_t>("a tensor's offset"));
    if (!in_.ok()) return;
    tensor.dtype = static_cast<Dtype>(type);
    if (dtype_name(tensor.dtype).empty()) {
        return in_.fail(
            fmt::format("the tensor {} is of type {}, which is unknown or not supported",
                        shown(tensor.name), type));
    }
    size_t n_row_bytes = row_bytes(tensor.dtype, tensor.shape[0]);
    if (n_row_bytes == 0) {
        return in_.fail(
            fmt::format("the tensor {} has rows of {} elements, and {} needs a multiple of {}",
                        shown(tensor.name), tensor.shape[0], dtype_name(tensor.dtype),
                        block_elements(tensor.dtype)));
    }
    uint64_t n_bytes = n_row_bytes;
    for (size_t i = 1; i < tensor.shape.size(); i++) {
        n_bytes = saturating_product(n_bytes, static_cast<uint64_t>(tensor.shape[i]));
    }
    sizes_.push_back(n_bytes);
    tensors().push_back(std::move(tensor));
}

void GgufParser::parse_shape(GgufTensor& tensor) {
    auto n_dims = in_.get<uint32_t>("a tensor's number of dimensions");
    if (in_.ok() && (n_dims == 0 || n_dims > 4)) {
        in_.fail(
            fmt::format("the tensor {} has {} dimensions, not 1 to 4", shown(tensor.name), n_dims));
    }
    for (uint32_t i = 0; i < n_dims && in_.ok(); i++) {
        i64 n = in_.get<i64>("a tensor's dimension");
        tensor.shape.push_back(n);
        if (in_.ok() && n <= 0) {
            in_.fail(fmt::format("the tensor {} has a dimension of {}", shown(tensor.name), n));
        }
    }
}

// Offsets count from the first aligned byte behind the header.
void GgufParser::place_tensors() {
    uint64_t data_at = (in_.at() + alignment_ - 1) / alignment_ * alignment_;
    uint64_t left = data_at < file_.size() ? file_.size() - data_at : 0;
    for (size_t i = 0; i < tensors().size(); i++) {
        std::string name = shown(tensors()[i].name);
        if (offsets_[i] % alignment_ != 0) {
            return in_.fail(fmt::format("the tensor {} starts at {}, not at a multiple of {}", name,
                                        offsets_[i], alignment_));
        }
        if (offsets_[i] > left || sizes_[i] > left - offsets_[i]) {
            return in_.fail(
                fmt::format("the file is cut: the tensor {} needs {} bytes at {}, and the file has "
                            "{} bytes",
                            name, sizes_[i], saturating_sum(data_at, offsets_[i]), file_.size()));
        }
        tensors()[i].data = file_.subspan(data_at + offsets_[i], sizes_[i]);
    }
}

void GgufParser::index_tensors() {
    if (tensors().empty()) return in_.fail("the file holds no tensors");
    out_.by_name_.reserve(tensors().size());
    for (size_t i = 0; i < tensors().size(); i++) {
        if (out_.by_name_.emplace(tensors()[i].name, i).second) continue;
        return in_.fail(
            fmt::format("the tensor {} stands in the file twice", shown(tensors()[i].name)));
    }
}

Expected<std::shared_ptr<const Gguf>> Gguf::open(const std::string& path) {
    GgufParts parts;
    parts.path = path;
    TRY_SET(parts.file, MappedFile::open(path));
    return parse(std::move(parts));
}

Expected<std::shared_ptr<const Gguf>> Gguf::join(GgufParts parts) {
    return parse(std::move(parts));
}

Expected<std::shared_ptr<const Gguf>> Gguf::parse(GgufParts parts) {
    std::shared_ptr<Gguf> gguf(new Gguf(std::move(parts)));  // the constructor is private
    const GgufParts& p = gguf->parts_;
    Bytes header = p.header.empty() ? p.file.bytes() : std::as_bytes(std::span(p.header));
    std::string fault = GgufParser(*gguf, header).parse();
    if (!fault.empty()) {
        return Error{Code::bad_model, fmt::format("{}: {}", printable(p.path, 1000), fault)};
    }
    return std::shared_ptr<const Gguf>(std::move(gguf));
}

}  // namespace transcribe
