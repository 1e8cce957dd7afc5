// A planned model becomes a GGUF file: the tensors' rows are read, brought into the type they are
// stored in, measured and written, some at a time, so that memory does not grow with the model.
#pragma once

#include <string>

#include "convert/convert.h"
#include "convert/model_plan.h"

namespace transcribe {

// Errors: io, bad_model, invalid_argument, as convert().
Expected<ConvertReport> store_model(const Checkpoint& from, const ModelPlan& plan,
                                    const std::string& out, const ConvertOptions& options);

}  // namespace transcribe
