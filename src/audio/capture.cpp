#include "audio/capture.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/text.h"

extern "C" {
#include <libavformat/avformat.h>
#include <libavutil/opt.h>
}

namespace transcribe {

namespace {

struct Kind {
    const char* name;
    const char* default_device;
};

// Those that record sound, the ones that share the microphone with other programs first.
constexpr Kind kinds[] = {{"pulse", "default"}, {"alsa", "default"},
                          {"sndio", "default"}, {"avfoundation", ":default"},
                          {"oss", "/dev/dsp"},  {"jack", "transcribe"},
                          {"openal", ""}};

// libavdevice has the version of libavformat, whose lists it extends.
Status load_devices() {
#ifdef __APPLE__
    const std::string library = fmt::format("libavdevice.{}.dylib", LIBAVFORMAT_VERSION_MAJOR);
#else
    const std::string library = fmt::format("libavdevice.so.{}", LIBAVFORMAT_VERSION_MAJOR);
#endif
    void* loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);  // stays until the end
    void* found = loaded ? dlsym(loaded, "avdevice_register_all") : nullptr;
    if (!found) {
        const char* why = dlerror();
        return Error{Code::unsupported,
                     fmt::format("a microphone needs FFmpeg's {}, which cannot be opened ({}); "
                                 "install it, or give the sound by a pipe: --stream -",
                                 library, why ? why : "it lacks avdevice_register_all")};
    }
    reinterpret_cast<void (*)()>(found)();
    return {};
}

bool is_capture(const AVInputFormat& kind) {
    return kind.priv_class && AV_IS_INPUT_DEVICE(kind.priv_class->category);
}

}  // namespace

Expected<std::vector<CaptureDevice>> capture_devices(const std::string& device) {
    TRY(load_devices());
    const size_t n_kind = device.find(':');
    if (n_kind != device.npos && n_kind > 0) {
        const std::string kind = device.substr(0, n_kind);
        const AVInputFormat* found = av_find_input_format(kind.c_str());
        if (!found || !is_capture(*found)) {
            return Error{Code::not_found,
                         fmt::format("--live-device: '{}' is no kind of capture device that this "
                                     "FFmpeg has",
                                     printable(kind))};
        }
        return std::vector<CaptureDevice>{{found, device.substr(n_kind + 1)}};
    }
    std::vector<CaptureDevice> devices;
    for (const Kind& kind : kinds) {
        const AVInputFormat* found = av_find_input_format(kind.name);
        if (found) devices.push_back({found, device.empty() ? kind.default_device : device});
    }
    if (!devices.empty()) return devices;
    return Error{Code::not_found, "this FFmpeg has no kind of capture device that records sound"};
}

}  // namespace transcribe
