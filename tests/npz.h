// Arrays of a NumPy .npz file: a zip archive of .npy files, stored or deflated. Of the types only
// little-endian float32, int32 and int64 are read; others are left out. For the files of the
// reference only: nothing here defends itself against strangers.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace transcribe::test {

struct NpyArray {
    std::vector<size_t> shape;  // slowest first
    std::vector<float> values;
};

namespace npz {

template <class T>
T get(const std::string& bytes, size_t at) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

inline std::string inflated(const std::string& packed, size_t n) {
    std::string out(n, '\0');
    z_stream z{};
    inflateInit2(&z, -MAX_WBITS);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    z.avail_in = static_cast<uInt>(packed.size());
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(n);
    EXPECT_EQ(inflate(&z, Z_FINISH), Z_STREAM_END);
    inflateEnd(&z);
    return out;
}

// The numbers in "'shape': (3, 4), ".
inline std::vector<size_t> shape_of(const std::string& header) {
    std::vector<size_t> shape;
    size_t at = header.find("'shape': (") + 10, end = header.find(')', at);
    while (at < end) {
        size_t n = 0;
        if (std::isdigit(static_cast<unsigned char>(header[at]))) {
            shape.push_back(std::stoul(header.substr(at), &n));
        }
        at += n + 1;
    }
    return shape;
}

template <class T>
std::vector<float> values_of(const std::string& npy, size_t at, size_t n) {
    std::vector<float> out(n);
    for (size_t i = 0; i < n; i++) out[i] = static_cast<float>(get<T>(npy, at + i * sizeof(T)));
    return out;
}

inline bool read_npy(const std::string& npy, NpyArray& into) {
    size_t n_header = get<std::uint16_t>(npy, 8), data = 10 + n_header;
    std::string header = npy.substr(10, n_header);
    into.shape = shape_of(header);
    size_t n = 1;
    for (size_t dim : into.shape) n *= dim;
    bool floats = header.find("'<f4'") != std::string::npos;
    bool integers = header.find("'<i8'") != std::string::npos;
    if (floats) into.values = values_of<float>(npy, data, n);
    if (integers) into.values = values_of<std::int64_t>(npy, data, n);
    bool short_integers = header.find("'<i4'") != std::string::npos;
    if (short_integers) into.values = values_of<std::int32_t>(npy, data, n);
    return floats || integers || short_integers;
}

}  // namespace npz

// By name, without ".npy". Empty where the file does not exist.
inline std::map<std::string, NpyArray> read_npz(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    std::map<std::string, NpyArray> out;
    // The list at the end has the sizes; what stands before an entry may not.
    constexpr std::uint32_t entry_mark = 0x02014b50;
    size_t end = bytes.size() < 22 ? 0 : bytes.size() - 22;
    size_t at = end ? npz::get<std::uint32_t>(bytes, end + 16) : 0;
    while (at < end && npz::get<std::uint32_t>(bytes, at) == entry_mark) {
        auto method = npz::get<std::uint16_t>(bytes, at + 10);
        size_t n_packed = npz::get<std::uint32_t>(bytes, at + 20);
        size_t n = npz::get<std::uint32_t>(bytes, at + 24);
        size_t n_name = npz::get<std::uint16_t>(bytes, at + 28);
        size_t local = npz::get<std::uint32_t>(bytes, at + 42);
        std::string name = bytes.substr(at + 46, n_name);
        size_t data = local + 30 + npz::get<std::uint16_t>(bytes, local + 26) +
                      npz::get<std::uint16_t>(bytes, local + 28);
        std::string packed = bytes.substr(data, n_packed);
        NpyArray array;
        if (npz::read_npy(method == 8 ? npz::inflated(packed, n) : packed, array)) {
            out.emplace(name.substr(0, name.rfind(".npy")), std::move(array));
        }
        at += 46 + n_name + npz::get<std::uint16_t>(bytes, at + 30) +
              npz::get<std::uint16_t>(bytes, at + 32);
    }
    return out;
}

}  // namespace transcribe::test
