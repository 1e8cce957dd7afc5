#include "tensor/device.h"

#ifdef TRANSCRIBE_BACKEND_VARIANTS
#include <dlfcn.h>
#endif

#include <fmt/format.h>
#include <ggml-backend.h>

#include "base/check.h"
#include "base/log.h"
#include "base/text.h"
#include "tensor/backend_dir.h"
#include "tensor/cpu_functions.h"

namespace transcribe {

namespace {

// ggml logs to stderr unless told otherwise; a library prints nothing.
void pass_log(ggml_log_level level, const char* text, void*) {
    LogLevel as = level == GGML_LOG_LEVEL_ERROR  ? LogLevel::error
                  : level == GGML_LOG_LEVEL_WARN ? LogLevel::warning
                                                 : LogLevel::debug;
    log(as, std::string(trim(text)));
}

void load_backends_once() {
    static const bool once = [] {
        ggml_log_set(pass_log, nullptr);
#ifdef TRANSCRIBE_BACKEND_VARIANTS
        ggml_backend_load_all_from_path(backend_dir().c_str());
#endif
        return true;
    }();
    (void)once;
}

const char* kind_of(ggml_backend_dev_t dev) {
    switch (ggml_backend_dev_type(dev)) {
        case GGML_BACKEND_DEVICE_TYPE_CPU: return "cpu";
        case GGML_BACKEND_DEVICE_TYPE_GPU: return "gpu";
        case GGML_BACKEND_DEVICE_TYPE_IGPU: return "integrated gpu";
        default: return "accelerator";
    }
}

bool is_gpu(ggml_backend_dev_t dev) {
    auto type = ggml_backend_dev_type(dev);
    return type == GGML_BACKEND_DEVICE_TYPE_GPU || type == GGML_BACKEND_DEVICE_TYPE_IGPU;
}

// Each kind of processor has its kernels in a library of its own where they are loaded.
Error no_cpu_kernels() {
    return {Code::backend, fmt::format("the folder {} has no CPU kernels (libggml-cpu-*) that "
                                       "this processor can run; please install the program again",
                                       backend_dir())};
}

template <class Function>
void look_up(ggml_backend_reg_t reg, const char* name, Function& function) {
    function = reinterpret_cast<Function>(ggml_backend_reg_get_proc_address(reg, name));
    CHECK(function != nullptr);
}

}  // namespace

std::vector<DeviceInfo> list_devices() {
    load_backends_once();
    std::vector<DeviceInfo> list;
    for (size_t i = 0; i < ggml_backend_dev_count(); i++) {
        ggml_backend_dev_t dev = ggml_backend_dev_get(i);
        DeviceInfo info{ggml_backend_dev_name(dev), ggml_backend_dev_description(dev),
                        kind_of(dev)};
        ggml_backend_dev_memory(dev, &info.free_bytes, &info.total_bytes);
        list.push_back(std::move(info));
    }
    return list;
}

bool Device::is_cpu() const {
    return ggml_backend_dev_type(dev) == GGML_BACKEND_DEVICE_TYPE_CPU;
}

std::string Device::name() const {
    return ggml_backend_dev_name(dev);
}

Device Device::cpu() {
    load_backends_once();
    Device device{ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU)};
    CHECK(device.dev != nullptr);
    return device;
}

Expected<Device> Device::pick(const std::string& name) {
    load_backends_once();
    if (!ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU)) return no_cpu_kernels();
    if (name == "cpu") return cpu();
    std::string known;
    for (size_t i = 0; i < ggml_backend_dev_count(); i++) {
        ggml_backend_dev_t dev = ggml_backend_dev_get(i);
        if (name == "auto" && is_gpu(dev)) return Device{dev};
        if (name == ggml_backend_dev_name(dev)) return Device{dev};
        known += fmt::format(", {}", ggml_backend_dev_name(dev));
    }
    if (name == "auto" || name.empty()) return cpu();
    return Error{Code::invalid_argument,
                 fmt::format("there is no device \"{}\"; known here: auto, cpu{}", name, known)};
}

void BackendDeleter::operator()(ggml_backend* backend) const {
    ggml_backend_free(backend);
}

Expected<BackendPtr> open_backend(Device device) {
    BackendPtr backend(ggml_backend_dev_init(device.dev, nullptr));
    if (!backend) {
        return Error{Code::backend, fmt::format("the device {} cannot be opened", device.name())};
    }
    return backend;
}

std::string compute_library_version() {
    return ggml_version();
}

const CpuFunctions& cpu_functions() {
    static const CpuFunctions functions = [] {
        ggml_backend_reg_t reg = ggml_backend_dev_backend_reg(Device::cpu().dev);
        CpuFunctions f;
        look_up(reg, "ggml_backend_set_n_threads", f.set_n_threads);
        look_up(reg, "ggml_backend_set_abort_callback", f.set_abort_callback);
#ifdef TRANSCRIBE_BACKEND_VARIANTS
        // Not among the functions that the backend offers by name, but its library has it.
        Dl_info library{};
        CHECK(dladdr(reinterpret_cast<void*>(f.set_n_threads), &library) != 0);
        void* handle = dlopen(library.dli_fname, RTLD_NOW | RTLD_NOLOAD);
        CHECK(handle != nullptr);
        f.type_traits =
            reinterpret_cast<CpuFunctions::TypeTraits>(dlsym(handle, "ggml_get_type_traits_cpu"));
        CHECK(f.type_traits != nullptr);
#else
        f.type_traits = ggml_get_type_traits_cpu;
#endif
        return f;
    }();
    return functions;
}

}  // namespace transcribe
