// Where the loadable CPU kernels of a packaged build lie: beside ggml's own shared library,
// wherever the package was put and whichever program loaded it. What the operating system is asked
// for that is in backend_dir.cpp.
#pragma once

#include <string>

namespace transcribe {

// Without a slash at the end; empty when the system does not tell.
std::string backend_dir();

}  // namespace transcribe
