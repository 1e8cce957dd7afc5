// What the program is made of, for --version.
#pragma once

#include <string>

namespace transcribe::cli {

std::string version_text();

}  // namespace transcribe::cli
