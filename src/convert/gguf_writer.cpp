#include "convert/gguf_writer.h"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <random>
#include <system_error>

#include "base/check.h"
#include "base/text.h"
#include "tensor/mapped_file.h"

namespace transcribe {

namespace {

constexpr size_t alignment = 32;

size_t padding(size_t at) {
    return (alignment - at % alignment) % alignment;
}

template <class T>
void append(std::string& out, T value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append(std::string& out, const std::string& text) {
    append<std::uint64_t>(out, text.size());
    out.append(text);
}

// The type numbers of GGUF.
constexpr std::uint32_t list_type = 9;
std::uint32_t type_of(bool) {
    return 7;
}
std::uint32_t type_of(std::uint32_t) {
    return 4;
}
std::uint32_t type_of(std::int32_t) {
    return 5;
}
std::uint32_t type_of(float) {
    return 6;
}
std::uint32_t type_of(const std::string&) {
    return 8;
}

template <class T>
void append_value(std::string& out, const T& value) {
    append(out, type_of(value));
    append(out, value);
}

void append_value(std::string& out, std::span<const std::byte> bytes) {
    out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

template <class T>
void append_value(std::string& out, const std::vector<T>& values) {
    append(out, list_type);
    append(out, type_of(T{}));
    append<std::uint64_t>(out, values.size());
    for (const T& value : values) append(out, value);
}

std::string unique_suffix() {
    std::random_device random;
    return fmt::format(".{:08x}.part", random());
}

Error write_error(const std::string& path) {
    std::string reason = errno ? std::generic_category().message(errno) : "the write failed";
    return Error{Code::io, fmt::format("{}: cannot be written: {}", printable(path, 1000), reason)};
}

}  // namespace

std::string gguf_header(const std::vector<GgufKey>& keys,
                        const std::vector<GgufTensorInfo>& tensors) {
    std::string out = "GGUF";
    append<std::uint32_t>(out, 3);
    append<std::uint64_t>(out, tensors.size());
    append<std::uint64_t>(out, keys.size());
    for (const GgufKey& key : keys) {
        append(out, key.name);
        std::visit([&](const auto& value) { append_value(out, value); }, key.value);
    }
    std::uint64_t offset = 0;
    for (const GgufTensorInfo& tensor : tensors) {
        append(out, tensor.name);
        append(out, static_cast<std::uint32_t>(tensor.shape.size()));
        for (i64 n : tensor.shape) append(out, n);
        append(out, static_cast<std::uint32_t>(tensor.dtype));
        append(out, offset);
        offset += tensor.n_bytes();
        offset += padding(offset);
    }
    return out;
}

size_t GgufTensorInfo::n_bytes() const {
    size_t n = row_bytes(dtype, shape.at(0));
    for (size_t i = 1; i < shape.size(); i++) n *= static_cast<size_t>(shape[i]);
    return n;
}

Expected<GgufWriter> GgufWriter::create(const std::string& path, const std::vector<GgufKey>& keys,
                                        const std::vector<GgufTensorInfo>& tensors) {
    GgufWriter writer;
    writer.path_ = path;
    std::string part_path = path + unique_suffix();
    errno = 0;
    writer.out_.open(native_path(part_path), std::ios::binary | std::ios::trunc);
    if (!writer.out_) return write_error(path);
    writer.part_path_ = part_path;
    for (auto tensor = tensors.rbegin(); tensor != tensors.rend(); ++tensor) {
        CHECK(tensor->n_bytes() > 0);
        writer.left_.push_back(tensor->n_bytes());
    }
    TRY(writer.put(gguf_header(keys, tensors)));
    TRY(writer.put_padding());
    return writer;
}

GgufWriter::~GgufWriter() {
    if (part_path_.empty()) return;
    out_.close();
    std::error_code ignored;
    std::filesystem::remove(native_path(part_path_), ignored);
}

Status GgufWriter::put(std::string_view bytes) {
    errno = 0;
    out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!out_) return write_error(path_);
    at_ += bytes.size();
    return {};
}

Status GgufWriter::put_padding() {
    return put(std::string(padding(at_), '\0'));
}

Status GgufWriter::write(std::span<const std::byte> data) {
    CHECK(!left_.empty() && data.size() <= left_.back());
    TRY(put({reinterpret_cast<const char*>(data.data()), data.size()}));
    left_.back() -= data.size();
    if (left_.back() > 0) return {};
    left_.pop_back();
    return put_padding();
}

Status GgufWriter::finish() {
    CHECK(left_.empty());
    errno = 0;
    out_.close();
    if (!out_) return write_error(path_);
    std::error_code fault;
    std::filesystem::rename(native_path(part_path_), native_path(path_), fault);
    if (fault) {
        return Error{Code::io, fmt::format("{}: cannot be written: {}", printable(path_, 1000),
                                           fault.message())};
    }
    part_path_.clear();
    return {};
}

}  // namespace transcribe
