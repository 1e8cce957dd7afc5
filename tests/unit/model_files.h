// Files for the tests of model readers: a folder of a test's own, and GGUF bytes in which every
// count, length and offset can lie.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "../tmp.h"

namespace transcribe::test {

// A fresh folder, named after the running test.
inline std::string fresh_folder() {
    auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    std::string path = tmp_folder() + "/" + info->test_suite_name() + "." + info->name();
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
    return path;
}

inline void write_file(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
}

inline std::string read_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

template <class T>
std::string raw(T value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

enum KvType : u32 {
    kv_u8 = 0,
    kv_u16 = 2,
    kv_u32 = 4,
    kv_i32 = 5,
    kv_f32 = 6,
    kv_bool = 7,
    kv_str = 8,
    kv_list = 9,
    kv_u64 = 10,
    kv_i64 = 11,
    kv_f64 = 12
};

inline std::string text(const std::string& s) {
    return raw<u64>(s.size()) + s;
}
inline std::string text(const std::string& s, u64 claimed) {
    return raw(claimed) + s;
}

template <class T>
std::string key(const std::string& name, KvType type, T value) {
    return text(name) + raw<u32>(type) + raw(value);
}
inline std::string key(const std::string& name, const std::string& value) {
    return text(name) + raw<u32>(kv_str) + text(value);
}

inline std::string tensor(const std::string& name, const std::vector<u64>& dims, u32 type = 0,
                          u64 offset = 0) {
    std::string out = text(name) + raw<u32>(static_cast<u32>(dims.size()));
    for (u64 n : dims) out += raw(n);
    return out + raw(type) + raw(offset);
}

// A well-formed file unless told otherwise.
struct GgufBytes {
    std::vector<std::string> keys = {key("general.architecture", "whisper")};
    std::vector<std::string> tensors = {tensor("a", {64})};
    std::string data = std::string(256, '\0');
    u32 version = 3;
    size_t alignment = 32;             // of the data
    long n_keys = -1, n_tensors = -1;  // as they are

    std::string bytes() const {
        u64 claimed_tensors = n_tensors < 0 ? tensors.size() : static_cast<u64>(n_tensors);
        u64 claimed_keys = n_keys < 0 ? keys.size() : static_cast<u64>(n_keys);
        std::string out = "GGUF" + raw(version) + raw(claimed_tensors) + raw(claimed_keys);
        for (const std::string& k : keys) out += k;
        for (const std::string& t : tensors) out += t;
        out.resize((out.size() + alignment - 1) / alignment * alignment, '\0');
        return out + data;
    }
};

}  // namespace transcribe::test
