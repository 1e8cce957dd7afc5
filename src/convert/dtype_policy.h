// Which element type a tensor is stored in, given its name and the type asked for the whole file:
// the one place for converting and quantizing.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/audio_source.h"
#include "tensor/dtype.h"

namespace transcribe {

// A type that a whole file may be asked in. Q4_K and Q5_K mean the mixed presets of the ecosystem,
// in which the embedding is Q6_K and the outputs of attention are Q8_0.
struct FileType {
    std::string_view name;  // "q4_k_m"
    Dtype dtype;
    unsigned number;  // general.file_type
};

std::span<const FileType> file_types();
// By name, in any case ("Q4_K_M"); nullptr when there is none.
const FileType* file_type_named(std::string_view name);
// By the type of its matrices; nullptr for a type that no file is asked in.
const FileType* file_type_of(Dtype);
std::string file_type_names();  // "f32, f16, ..."

// What a tensor is, by its name in our schema (docs/families).
enum class Bucket {
    embedding,
    linear,
    attention_output,  // linear, and the most sensitive
    pointwise_conv,    // F16 in quantized files
    conv,              // F32 in quantized files
    exact,             // norms, biases, positional tables, front end, recurrent: always F32
};
Bucket bucket_of(std::string_view name);

// `shape` in ggml order. A row that does not fill whole blocks falls back to Q8_0 (from the K
// types), then to F16.
Dtype stored_dtype(std::string_view name, const std::vector<i64>& shape, Dtype asked);

}  // namespace transcribe
