#include "engine/observe.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "base/env.h"
#include "tensor/mapped_file.h"

namespace transcribe {

namespace {

bool matches(std::string_view pattern, std::string_view name) {
    size_t star = pattern.find('*');
    if (star == std::string_view::npos) return pattern == name;
    if (!name.starts_with(pattern.substr(0, star))) return false;
    // Each part between stars takes its first place; the last part has to be the end.
    name.remove_prefix(star);
    pattern.remove_prefix(star + 1);
    for (; (star = pattern.find('*')) != std::string_view::npos; pattern.remove_prefix(star + 1)) {
        size_t at = name.find(pattern.substr(0, star));
        if (at == std::string_view::npos) return false;
        name.remove_prefix(at + star);
    }
    return name.ends_with(pattern);
}

// ggml names what we do not: "node_12", "enc.out (view)". A file name has no separators either.
bool is_tap(std::string_view name) {
    return !name.starts_with("node_") && !name.starts_with("leaf_") &&
           name.find_first_of(" /\\:") == std::string_view::npos;
}

// NPY 1.0: magic, version, length of the rest; padded with blanks to a multiple of 64 bytes.
std::string npy_header(const Shape& shape) {
    size_t n = 4;
    while (n > 1 && shape.ne[n - 1] == 1) n--;
    std::string dims;
    for (size_t i = n; i-- > 0;) dims += fmt::format("{}, ", shape.ne[i]);
    std::string text =
        fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}), }}", dims);
    text.append((64 - (10 + text.size() + 1) % 64) % 64, ' ');
    text += '\n';
    std::string head("\x93NUMPY\x01\x00", 8);
    head += static_cast<char>(text.size() & 0xFF);
    head += static_cast<char>(text.size() >> 8);
    return head + text;
}

}  // namespace

Expected<std::unique_ptr<NpyTaps>> NpyTaps::make(std::string names, std::string folder) {
    std::error_code code;
    std::filesystem::create_directories(native_path(folder), code);
    if (code) {
        return Error{Code::io,
                     fmt::format("the folder {} cannot be made: {}", folder, code.message())};
    }
    return std::unique_ptr<NpyTaps>(new NpyTaps(std::move(names), std::move(folder)));
}

bool NpyTaps::wants(std::string_view name) {
    return is_tap(name) && matches(names_, name);
}

void NpyTaps::take(std::string_view name, const Shape& shape, std::span<const float> values) {
    int n = n_taken_[std::string(name)]++;
    std::string path = fmt::format("{}/{}{}.npy", folder_, name, n ? fmt::format(".{}", n) : "");
    std::string header = npy_header(shape);
    std::ofstream file(native_path(path), std::ios::binary);
    file.write(header.data(), static_cast<std::streamsize>(header.size()));
    auto bytes = std::as_bytes(values);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (!file && status_) status_ = Error{Code::io, fmt::format("{} cannot be written", path)};
}

Expected<std::unique_ptr<NpyTaps>> taps_of_environment() {
    auto names = env(Var::tap), folder = env(Var::tap_dir);
    if (!names || !folder) return std::unique_ptr<NpyTaps>();
    return NpyTaps::make(*names, *folder);
}

}  // namespace transcribe
