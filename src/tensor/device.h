// Devices: listing, choosing, opening a private backend on one.
//
// All of ggml's per-backend functions are reached through the registry, so that a build whose CPU
// kernels are loadable variants (chosen at run time) needs no other code. GPU builds (GGML_CUDA,
// GGML_METAL, GGML_VULKAN) only add entries to the registry.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"

struct ggml_backend;
struct ggml_backend_device;

namespace transcribe {

struct DeviceInfo {
    std::string name, description, kind;  // kind: "cpu", "gpu", "integrated gpu", "accelerator"
    size_t free_bytes = 0, total_bytes = 0;
};
std::vector<DeviceInfo> list_devices();

std::string compute_library_version();  // of ggml: "0.20.2"

// A place where weights live and graphs run. A value: devices belong to ggml's registry.
struct Device {
    ggml_backend_device* dev = nullptr;
    bool is_cpu() const;
    std::string name() const;
    // "auto" (a GPU where there is one, else the CPU), "cpu", or a name that list_devices() gives.
    // Errors: invalid_argument, no such device; backend, no kernels for this processor.
    static Expected<Device> pick(const std::string& name);
    static Device cpu();
};

struct BackendDeleter {
    void operator()(ggml_backend*) const;
};
using BackendPtr = std::unique_ptr<ggml_backend, BackendDeleter>;
Expected<BackendPtr> open_backend(Device);

// Functions of the CPU backend, found by name in ggml's registry.
struct CpuFunctions;
const CpuFunctions& cpu_functions();

}  // namespace transcribe
