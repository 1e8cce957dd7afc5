// A checkpoint directory (Hugging Face or CTranslate2) or a model file (GGUF, whisper.cpp's .bin)
// to one GGUF file, in the type that is asked for: converting and quantizing are the same.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "tensor/dtype.h"

namespace transcribe {

struct ConvertOptions {
    std::optional<Dtype> type;                // of file_types(); else the source's own
    std::string name;                         // general.name; else from the source
    std::string lm_directory = {};            // see Checkpoint
    std::function<void(double)> on_progress;  // 0 to 1
};

struct StoredTensor {
    std::string name;
    Dtype from{}, to{};
    size_t n_bytes_from = 0, n_bytes = 0;
    // Root mean square of what the type changed, over that of the values; 0 where it changed
    // nothing.
    double error = 0;
};

struct ConvertReport {
    std::string name;                   // of the model
    std::string type;                   // "q4_k_m"; "their own types" where none was asked for
    std::vector<StoredTensor> tensors;  // in the order of the file
    double error = 0;                   // as above, over all tensors that changed
    size_t n_bytes_from() const;
    size_t n_bytes() const;
};

// Streams some rows at a time in bounded memory; `out` appears when it is complete.
// Errors: not_found, io, unsupported, out_of_memory; bad_model (also: a value that is not finite,
// or that the type cannot hold); invalid_argument (quantizing what is quantized already).
Expected<ConvertReport> convert(const std::string& source, const std::string& out,
                                const ConvertOptions& options = {});

}  // namespace transcribe
