// The facts of a model file, from its header alone.
#pragma once

#include <string>

#include "base/error.h"

namespace transcribe {

// Lines of "label  value", for people. Errors: as open_model_file.
Expected<std::string> inspect(const std::string& path);

}  // namespace transcribe
