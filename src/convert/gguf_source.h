// A model file as a source: everything is kept, and its tensors may be brought into other types.
#pragma once

#include <string>

#include "convert/model_plan.h"

namespace transcribe {

// Errors: as open_model_file.
Expected<Checkpoint> open_gguf(const std::string& path);

Expected<ModelPlan> plan_gguf(const Checkpoint&, const std::string& name);

}  // namespace transcribe
