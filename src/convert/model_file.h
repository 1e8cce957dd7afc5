// Model files of any kind that this program runs, in GGUF's terms.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "tensor/gguf.h"

namespace transcribe {

// GGUF, or whisper.cpp's own .bin (convert/whisper_bin.h). Data stays where the file is mapped;
// that of a .bin is not aligned. Errors: not_found, io, bad_model, unsupported.
Expected<std::shared_ptr<const Gguf>> open_model_file(const std::string& path);
// The same of a file that is open; errors call it `path`.
Expected<std::shared_ptr<const Gguf>> read_model_file(MappedFile file, const std::string& path);

}  // namespace transcribe
