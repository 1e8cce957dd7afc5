// What a family's mapping makes of a checkpoint: everything that the written file will hold. The
// data stays where it is until it is written.
#pragma once

#include <string>
#include <vector>

#include "convert/checkpoint.h"
#include "convert/dtype_policy.h"
#include "convert/gguf_writer.h"

namespace transcribe {

struct PlannedTensor {
    std::string name;
    Bucket bucket{};
    std::vector<i64> shape;                // slowest first, as the source has it
    const SourceTensor* source = nullptr;  // elements from `first` on
    i64 first = 0;
    std::vector<float> computed;  // the data where there is no source
};

struct ModelPlan {
    std::string name;  // "whisper-tiny.en"
    std::vector<GgufKey> keys;
    std::vector<GgufKey> bulk_keys;
    std::vector<PlannedTensor> tensors;
    Dtype reference{};  // of the source's weights
};

}  // namespace transcribe
