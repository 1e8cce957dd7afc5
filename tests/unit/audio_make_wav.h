// WAV files written byte by byte, so that tests can lie in every field.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "../tmp.h"

namespace transcribe::test {

template <class T>
std::string bytes_of(const T& value) {  // little-endian, as every machine that runs the tests
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

struct Wav {
    int tag = 1, n_channels = 1;
    std::uint32_t rate_hz = 16000;
    int block_bytes = 2, n_bits = 16;
    int sub_tag = 0, n_valid_bits = 0;  // for tag 0xFFFE
    std::string data = {};
    std::int64_t riff_size = -1, data_size = -1, fmt_size = -1;  // -1: the true ones

    std::string bytes() const {
        std::string fmt = u16(tag) + u16(n_channels) + bytes_of(rate_hz) +
                          bytes_of(std::uint32_t(rate_hz * std::uint32_t(block_bytes))) +
                          u16(block_bytes) + u16(n_bits);
        if (tag == 0xFFFE) {
            fmt += u16(22) + u16(n_valid_bits) + bytes_of(std::uint32_t(0)) + u16(sub_tag) +
                   std::string("\0\0\0\0\x10\0\x80\0\0\xAA\0\x38\x9B\x71", 14);
        }
        const std::string body =
            "WAVE" + chunk("fmt ", fmt, fmt_size) + chunk("data", data, data_size);
        return chunk("RIFF", body, riff_size);
    }
    static std::string u16(int value) { return bytes_of(std::uint16_t(value)); }
    static std::string chunk(const char* id, const std::string& body, std::int64_t size) {
        return id + bytes_of(std::uint32_t(size < 0 ? std::int64_t(body.size()) : size)) + body;
    }
};

// A file that is there as long as this object.
class TempFile {
  public:
    TempFile(const std::string& name, const std::string& bytes)
        : path_(test::tmp_folder() + "/" + name) {
        std::ofstream(path_, std::ios::binary) << bytes;
    }
    ~TempFile() { std::filesystem::remove(path_); }
    TempFile(const TempFile&) = delete;
    TempFile& operator=(const TempFile&) = delete;
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

}  // namespace transcribe::test
