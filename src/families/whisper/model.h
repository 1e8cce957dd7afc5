// Whisper as a family: a model file becomes a Model.
#pragma once

#include "asr/model.h"
#include "tensor/weights.h"

namespace transcribe::whisper {

// Errors: bad_model (all faults of the file at once), out_of_memory, backend.
Expected<std::shared_ptr<const Model>> load(Loader& loader);

}  // namespace transcribe::whisper
