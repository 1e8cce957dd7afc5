// The CPU backend's own functions, looked up once by name: linking them directly would tie the
// program to one build of the CPU kernels.
#pragma once

#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <ggml.h>

namespace transcribe {

struct CpuFunctions {
    using TypeTraits = const ggml_type_traits_cpu* (*)(ggml_type);
    TypeTraits type_traits = nullptr;
    ggml_backend_set_n_threads_t set_n_threads = nullptr;
    ggml_backend_set_abort_callback_t set_abort_callback = nullptr;
};

}  // namespace transcribe
