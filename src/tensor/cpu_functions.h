// The CPU backend's own functions, looked up once by name: linking them directly would tie the
// program to one build of the CPU kernels.
#pragma once

#include <ggml-backend.h>
#include <ggml.h>

namespace transcribe {

struct CpuFunctions {
    using ThreadpoolNew = ggml_threadpool* (*)(ggml_threadpool_params*);
    using ThreadpoolFree = void (*)(ggml_threadpool*);
    using SetThreadpool = void (*)(ggml_backend_t, ggml_threadpool*);
    ThreadpoolNew threadpool_new = nullptr;
    ThreadpoolFree threadpool_free = nullptr;
    SetThreadpool set_threadpool = nullptr;
    ggml_backend_set_n_threads_t set_n_threads = nullptr;
    ggml_backend_set_abort_callback_t set_abort_callback = nullptr;
};

}  // namespace transcribe
