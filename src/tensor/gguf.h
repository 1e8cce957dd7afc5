// GGUF files: reading (memory mapped, validated) and the typed view of their keys.
//
// The parser is ours because ggml's own trusts counts and sizes in places and aborts in others;
// every count, length, offset and type is checked here, in one place, against the bytes that are
// left. Layout: docs/gguf.md of ggml. Errors name the file and the fault.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/audio_source.h"
#include "base/error.h"
#include "tensor/mapped_file.h"

namespace transcribe {

enum class Dtype : int;  // a ggml_type's number; named values in tensor/dtype.h

struct GgufTensor {
    std::string name;
    Dtype dtype{};
    std::vector<i64> shape;           // ggml order, fastest first; 1 to 4 dimensions
    std::span<const std::byte> data;  // in the map; valid while the Gguf lives
};

using GgufValue = std::variant<bool, i64, double, std::string, std::vector<i64>,
                               std::vector<double>, std::vector<std::string>>;

// A key as it stands in the header, so that it can be written again with every type kept.
struct GgufKeyBytes {
    std::string_view name;
    std::span<const std::byte> value;  // type and value, as after a key's name
};

// What another kind of file says in GGUF's terms (convert/whisper_bin.h).
struct GgufParts {
    std::string path;
    std::string header;  // of a GGUF file with these keys and no tensors
    std::vector<GgufTensor> tensors;
    MappedFile file;  // with `computed` owns the tensors' data
    std::vector<float> computed;
};

class Gguf {
  public:
    // Reads the header alone; the tensors' data is touched by who uses it.
    // Errors: not_found (no such file), io (a directory, no permission), bad_model (cut, foreign,
    // or with counts that lie).
    static Expected<std::shared_ptr<const Gguf>> open(const std::string& path);
    // Errors: bad_model.
    static Expected<std::shared_ptr<const Gguf>> join(GgufParts parts);
    const std::string& path() const { return parts_.path; }
    const std::unordered_map<std::string, GgufValue>& values() const { return values_; }
    const std::vector<GgufKeyBytes>& keys() const { return keys_; }  // in the order of the file
    const std::vector<GgufTensor>& tensors() const { return parts_.tensors; }
    const GgufTensor* find(std::string_view name) const;
    // For who has read part of a tensor's data once: takes its pages out of memory.
    void release(std::span<const std::byte> part) const { parts_.file.release(part); }
    size_t n_bytes() const { return parts_.file.bytes().size(); }

  private:
    explicit Gguf(GgufParts parts) : parts_(std::move(parts)) {}
    static Expected<std::shared_ptr<const Gguf>> parse(GgufParts parts);
    friend class GgufParser;
    GgufParts parts_;
    std::unordered_map<std::string, GgufValue> values_;
    std::vector<GgufKeyBytes> keys_;
    std::unordered_map<std::string_view, size_t> by_name_;
};

// Reads keys under a prefix. Values go on, faults go to Problems with their key:
//     KvReader kv(*file, problems, "stt.whisper.encoder.");
//     int n = kv.i32("n_layers", 1, 256);
class KvReader {
  public:
    KvReader(const Gguf& file, Problems& problems, std::string prefix = "")
        : file_(&file), problems_(&problems), prefix_(std::move(prefix)) {}
    KvReader at(std::string_view child) const;  // prefix + child + "."
    bool has(const char* key) const;
    // Required, within [lo, hi]; on a fault `lo` comes back.
    int i32(const char* key, int lo, int hi) const;
    // Optional; `fallback` where the key is absent.
    int i32_or(const char* key, int fallback) const;
    float f32_or(const char* key, float fallback) const;
    bool flag_or(const char* key, bool fallback) const;
    std::string str(const char* key) const;
    std::string str_or(const char* key, std::string fallback) const;
    std::vector<int> ints(const char* key) const;          // empty where absent
    std::vector<std::string> strs(const char* key) const;  // empty where absent
    // A rule across fields, in words: "d_model is a multiple of n_heads".
    void require(bool holds, std::string_view rule) const;

  private:
    const Gguf* file_;
    Problems* problems_;
    std::string prefix_;
};

}  // namespace transcribe
