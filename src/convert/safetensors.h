// Hugging Face directories: config.json beside model.safetensors, or beside shards that
// model.safetensors.index.json names.
#pragma once

#include <string>

#include "convert/checkpoint.h"

namespace transcribe {

// Errors: not_found, io, bad_model, unsupported.
Expected<Checkpoint> open_hugging_face(const std::string& directory);

// Adds the tensors of one file to `into`. Errors: as above.
Status read_safetensors(const std::string& path, Checkpoint& into);

}  // namespace transcribe
