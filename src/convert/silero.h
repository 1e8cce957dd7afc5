// Silero VAD as its Python package carries it: one ONNX file without a config. Sizes are read from
// the tensors' shapes (docs/families/silero.md).
#pragma once

#include <string>

#include "convert/checkpoint.h"
#include "convert/model_plan.h"

namespace transcribe {

// The file's name in the package; a directory that holds it is a Silero VAD.
constexpr const char* silero_file = "silero_vad_16k_sequence.onnx";

// Errors: not_found, io, bad_model.
Expected<Checkpoint> open_silero(const std::string& directory);
Expected<ModelPlan> plan_silero(const Checkpoint&, const std::string& name);

}  // namespace transcribe
