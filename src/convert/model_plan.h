// What a source becomes: everything that the written file will hold. The data stays where it is
// until it is written (convert/store.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "convert/checkpoint.h"
#include "convert/gguf_writer.h"

namespace transcribe {

// What is added to a matrix [out, in]: scale * b a.
struct LowRank {
    const SourceTensor* a = nullptr;  // [r, in]
    const SourceTensor* b = nullptr;  // [out, r]
    float scale = 0;
};

struct PlannedTensor {
    std::string name;
    std::vector<i64> shape;                // slowest first, as the source has it
    const SourceTensor* source = nullptr;  // elements from `first` on
    i64 first = 0;
    std::optional<LowRank> added = {};  // to a source
    std::vector<float> computed;        // the data where there is no source
};

struct ModelPlan {
    std::string name;  // "whisper-tiny.en"
    std::vector<GgufKey> keys;
    std::vector<GgufKey> bulk_keys;
    std::vector<PlannedTensor> tensors;
    // The type of the file where none is asked for; nothing: each tensor keeps its own.
    std::optional<Dtype> reference;
};

}  // namespace transcribe
