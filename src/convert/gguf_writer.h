// Writes a GGUF v3 file in one pass: the header at once, then the tensors' data in pieces of any
// size. The file appears under its own name when it is complete; until then it is a temporary file
// beside it, which goes away with the writer.
//
// Keys are written in the order given. Readers over a network fetch the file's start only, so
// scalars come first and bulk lists (the vocabulary) last.
#pragma once

#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/audio_source.h"
#include "base/error.h"
#include "tensor/dtype.h"

namespace transcribe {

struct GgufKey {
    std::string name;
    std::variant<bool, std::uint32_t, std::int32_t, float, std::string, std::vector<std::int32_t>,
                 std::vector<std::string>, std::span<const std::byte>>
        value;  // bytes: type and value as another file has them (GgufKeyBytes)
};

struct GgufTensorInfo {
    std::string name;
    Dtype dtype{};
    std::vector<i64> shape;  // ggml order, fastest first
    size_t n_bytes() const;
};

// A file's bytes before the data.
std::string gguf_header(const std::vector<GgufKey>& keys,
                        const std::vector<GgufTensorInfo>& tensors);

class GgufWriter {
  public:
    // Errors: io.
    static Expected<GgufWriter> create(const std::string& path, const std::vector<GgufKey>& keys,
                                       const std::vector<GgufTensorInfo>& tensors);
    GgufWriter(GgufWriter&&) = default;
    ~GgufWriter();

    // The next bytes of the tensors' data, in the order of the header; a call stays within one
    // tensor.
    Status write(std::span<const std::byte> data);
    // Renames the file to its own name. All data must have been written.
    Status finish();

  private:
    GgufWriter() = default;
    Status put(std::string_view bytes);
    Status put_padding();

    std::string path_;
    std::string part_path_;  // empty when nothing is left to remove
    std::ofstream out_;
    size_t at_ = 0;             // bytes written
    std::vector<size_t> left_;  // bytes that each tensor still waits for, the current one last
};

}  // namespace transcribe
