// Files that appear whole or not at all.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace transcribe {

// Can a file of this name exist? Errors: io, where the last part has more bytes than file systems
// take (255).
Status check_file_name(const std::string& path);

// Writes a temporary file in the same folder and renames it over `path`; on failure nothing is left
// behind and an older file of that name is untouched. Errors: io.
Status write_file(const std::string& path, std::string_view bytes);

}  // namespace transcribe
