// A checkpoint directory (Hugging Face or CTranslate2) to one GGUF file.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/error.h"
#include "tensor/dtype.h"

namespace transcribe {

struct ConvertOptions {
    std::optional<Dtype> type;                // the source's own where it is not given
    std::string name;                         // general.name; else from the source
    std::function<void(double)> on_progress;  // 0 to 1
};

struct ConvertReport {
    std::string name;
    Dtype type{};
    size_t n_tensors = 0;
    size_t n_bytes = 0;  // of the tensors' data
};

// Streams tensor by tensor in bounded memory; `out` appears when it is complete.
// Errors: not_found, io, bad_model, unsupported, invalid_argument, out_of_memory.
Expected<ConvertReport> convert(const std::string& source, const std::string& out,
                                const ConvertOptions& options = {});

}  // namespace transcribe
