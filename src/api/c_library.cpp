// The C functions of the library as a whole: version, errors, logs, devices, models by name.
#include <string>
#include <vector>

#include "api/edge.h"
#include "api/options.h"
#include "audio/resample.h"
#include "base/log.h"
#include "hub/hub.h"
#include "tensor/device.h"

namespace api = transcribe::api;

const char* transcribe_version(void) {
    return TRANSCRIBE_VERSION;
}

const char* transcribe_last_error(void) {
    return api::last_error();
}

const char* transcribe_status_name(transcribe_status status) {
    switch (status) {
        case TRANSCRIBE_OK: return "OK";
        case TRANSCRIBE_INVALID_ARG: return "INVALID_ARG";
        case TRANSCRIBE_FILE_NOT_FOUND: return "FILE_NOT_FOUND";
        case TRANSCRIBE_GGUF: return "GGUF";
        case TRANSCRIBE_UNSUPPORTED_ARCH: return "UNSUPPORTED_ARCH";
        case TRANSCRIBE_UNSUPPORTED_LANGUAGE: return "UNSUPPORTED_LANGUAGE";
        case TRANSCRIBE_UNSUPPORTED_TASK: return "UNSUPPORTED_TASK";
        case TRANSCRIBE_UNSUPPORTED_TIMESTAMPS: return "UNSUPPORTED_TIMESTAMPS";
        case TRANSCRIBE_OOM: return "OOM";
        case TRANSCRIBE_BACKEND: return "BACKEND";
        case TRANSCRIBE_ABORTED: return "ABORTED";
        case TRANSCRIBE_BAD_STRUCT_SIZE: return "BAD_STRUCT_SIZE";
        case TRANSCRIBE_INPUT_TOO_LONG: return "INPUT_TOO_LONG";
        case TRANSCRIBE_OUTPUT_TRUNCATED: return "OUTPUT_TRUNCATED";
        case TRANSCRIBE_BAD_AUDIO: return "BAD_AUDIO";
        case TRANSCRIBE_IO: return "IO";
        case TRANSCRIBE_INTERNAL: return "INTERNAL";
    }
    return "unknown";
}

void transcribe_set_log_callback(transcribe_log_callback callback, void* user) {
    api::guard([&] {
        if (!callback) return transcribe::set_log_sink({});
        transcribe::set_log_sink([=](transcribe::LogLevel level, const std::string& text) {
            callback(user, static_cast<transcribe_log_level>(level), text.c_str());
        });
    });
}

size_t transcribe_device_count(void) {
    size_t n = 0;
    api::guard([&] { n = transcribe::list_devices().size(); });
    return n;
}

transcribe_status transcribe_device_get_info(size_t index, transcribe_device_info* info) {
    thread_local transcribe::DeviceInfo shown;
    return api::guard([&] {
        api::need(info, "info is null");
        api::need_size(info->size, sizeof *info, "transcribe_device_info");
        std::vector<transcribe::DeviceInfo> devices = transcribe::list_devices();
        api::need(index < devices.size(), "there is no such device; see transcribe_device_count()");
        shown = std::move(devices[index]);
        *info = {sizeof *info,       shown.name.c_str(), shown.description.c_str(),
                 shown.kind.c_str(), shown.free_bytes,   shown.total_bytes};
    });
}

transcribe_status transcribe_find_options_init(transcribe_find_options* options, size_t size) {
    return api::guard([&] {
        api::need(options, "options is null");
        api::need_size(size, sizeof *options, "transcribe_find_options");
        *options = api::options_or_defaults(static_cast<transcribe_find_options*>(nullptr));
    });
}

transcribe_status transcribe_find_model(const char* name_or_path,
                                        const transcribe_find_options* options, const char** path) {
    thread_local std::string found;
    return api::guard([&] {
        api::need(path, "path is null");
        *path = nullptr;
        api::need(name_or_path, "name_or_path is null");
        transcribe_find_options given = api::options_or_defaults(options);
        transcribe::PullOptions pull;
        pull.offline = given.offline;
        pull.on_progress = [given](const transcribe::PullProgress& progress) {
            if (!given.on_progress || progress.n_total <= 0) return;
            auto done = static_cast<double>(progress.n_done);
            given.on_progress(given.user, 0, done / static_cast<double>(progress.n_total));
        };
        found = api::value_of(transcribe::resolve_model(name_or_path, pull));
        *path = found.c_str();
    });
}

transcribe_status transcribe_resample(transcribe_pcm_format format, const float* pcm,
                                      size_t n_frames, float* out, size_t n_out_max,
                                      size_t* n_out) {
    return api::guard([&] {
        api::need(n_out, "n_out is null");
        *n_out = 0;
        transcribe::PcmFormat as{format.rate_hz, format.n_channels};
        api::value_of(transcribe::check(as));
        auto n_channels = static_cast<size_t>(format.n_channels);
        api::need(n_frames <= TRANSCRIBE_SAMPLES_MAX,
                  "n_frames is more than TRANSCRIBE_SAMPLES_MAX");
        if (!out) {
            *n_out = transcribe::n_resampled_max(as, n_frames);
            return;
        }
        auto given = api::samples(pcm, n_frames * n_channels);
        auto samples = api::value_of(transcribe::resample(as, given));
        api::need(samples.size() <= n_out_max,
                  "n_out_max is less than what call without out gives");
        std::copy(samples.begin(), samples.end(), out);
        *n_out = samples.size();
    });
}
