#include "tensor/backend_dir.h"

#include <ggml-backend.h>

#ifndef _WIN32
#include <dlfcn.h>
#endif

namespace transcribe {

std::string backend_dir() {
#ifndef _WIN32
    Dl_info library{};
    if (dladdr(reinterpret_cast<const void*>(&ggml_backend_load_all), &library) &&
        library.dli_fname) {
        std::string path = library.dli_fname;
        return path.substr(0, path.find_last_of('/'));
    }
#endif
    return "";
}

}  // namespace transcribe
