// The C functions of models and sessions.
#include <fmt/format.h>

#include "api/objects.h"
#include "api/options.h"
#include "base/log.h"
#include "base/stopwatch.h"
#include "engine/open.h"

namespace api = transcribe::api;

namespace {

void add_model(std::shared_ptr<const transcribe::Model> model,
               const transcribe_model_options& given, transcribe_model** out) {
    auto object = std::make_shared<api::ModelObject>();
    object->model = std::move(model);
    const transcribe::ModelInfo& info = object->model->info();
    for (const std::string& code : info.languages) object->languages.push_back(code.c_str());
    transcribe::log(transcribe::LogLevel::info, fmt::format("model {}: {} parameters on {}",
                                                            info.name, info.n_params, info.device));
    api::give(api::models(), std::move(object), out);
    if (given.on_progress) given.on_progress(given.user, 0, 1);
}

// Opens a model by open(options) and hands it out.
template <class Open>
transcribe_status load(const transcribe_model_options* options, transcribe_model** model,
                       const Open& open) {
    return api::guard([&] {
        api::need(model, "model is null");
        *model = nullptr;
        const transcribe_model_options given = api::options_or_defaults(options);
        const transcribe::OpenOptions checked = api::open_options(given);
        if (given.on_progress) given.on_progress(given.user, 0, 0);
        add_model(api::value_of(open(checked)), given, model);
    });
}

std::unique_ptr<transcribe::Session> make_session(const api::ModelObject& model,
                                                  const transcribe_session_options& given) {
    transcribe::SessionOptions options;
    options.n_threads = given.n_threads;
    options.batch_size = given.batch_size;
    options.n_ctx = given.n_ctx;
    if (given.vad_model) {
        options.voice = api::value_of(transcribe::open_voice_detector(given.vad_model));
    }
    return api::value_of(transcribe::Session::make(model.model, options));
}

}  // namespace

transcribe_status transcribe_model_options_init(transcribe_model_options* options, size_t size) {
    return api::guard([&] {
        api::need(options, "options is null");
        api::need_size(size, sizeof *options, "transcribe_model_options");
        *options = api::options_or_defaults(static_cast<transcribe_model_options*>(nullptr));
    });
}

transcribe_status transcribe_model_load(const char* path, const transcribe_model_options* options,
                                        transcribe_model** model) {
    return load(options, model, [&](const transcribe::OpenOptions& checked) {
        api::need(path, "path is null");
        return transcribe::open_model(path, checked);
    });
}

transcribe_status transcribe_model_load_from_memory(const void* bytes, size_t n_bytes,
                                                    const transcribe_model_options* options,
                                                    transcribe_model** model) {
    return load(options, model, [&](const transcribe::OpenOptions& checked) {
        api::need(bytes, "bytes is null");
        api::need(n_bytes <= PTRDIFF_MAX, "n_bytes is more than there can be");
        return transcribe::open_model({static_cast<const std::byte*>(bytes), n_bytes}, checked);
    });
}

transcribe_status transcribe_model_get_info(const transcribe_model* model,
                                            transcribe_model_info* info) {
    return api::guard([&] {
        auto object = api::object_of(api::models(), model);
        api::need(info, "info is null");
        api::need_size(info->size, sizeof *info, "transcribe_model_info");
        const transcribe::ModelInfo& known = object->model->info();
        *info = {};
        info->size = sizeof *info;
        info->family = known.arch.c_str();
        info->name = known.name.c_str();
        info->variant = known.variant.c_str();
        info->license = known.license.c_str();
        info->device = known.device.c_str();
        info->languages = object->languages.data();
        info->n_languages = object->languages.size();
        info->detects_language = known.detects_language;
        info->translates = known.translates;
        info->streams = known.has_words;  // by decoding a growing window (engine/stream.h)
        info->timestamps = known.has_words        ? TRANSCRIBE_TIMESTAMPS_WORD
                           : known.has_timestamps ? TRANSCRIBE_TIMESTAMPS_SEGMENT
                                                  : TRANSCRIBE_TIMESTAMPS_NONE;
        info->sample_rate_hz = transcribe::sample_rate;
        info->n_params = known.n_params;
        info->max_audio_ms = known.max_audio_ms;
    });
}

transcribe_status transcribe_model_free(transcribe_model* model) {
    return api::free_handle(api::models(), model);
}

transcribe_status transcribe_session_options_init(transcribe_session_options* options,
                                                  size_t size) {
    return api::guard([&] {
        api::need(options, "options is null");
        api::need_size(size, sizeof *options, "transcribe_session_options");
        *options = api::options_or_defaults(static_cast<transcribe_session_options*>(nullptr));
    });
}

transcribe_status transcribe_session_create(const transcribe_model* model,
                                            const transcribe_session_options* options,
                                            transcribe_session** session) {
    return api::guard([&] {
        api::need(session, "session is null");
        *session = nullptr;
        auto object = std::make_shared<api::SessionObject>();
        object->model = api::object_of(api::models(), model);
        transcribe_session_options given = api::options_or_defaults(options);
        api::check(given);
        object->session = make_session(*object->model, given);
        object->has_voice = given.vad_model != nullptr;
        api::give(api::sessions(), std::move(object), session);
    });
}

transcribe_status transcribe_session_cancel(transcribe_session* session) {
    return api::guard([&] { api::object_of(api::sessions(), session)->session->cancel(); });
}

transcribe_status transcribe_session_get_limits(const transcribe_session* session,
                                                transcribe_limits* limits) {
    return api::guard([&] {
        auto object = api::object_of(api::sessions(), session);
        api::need(limits, "limits is null");
        api::need_size(limits->size, sizeof *limits, "transcribe_limits");
        const transcribe::Limits known = object->session->limits();
        *limits = {sizeof *limits, known.max_audio_ms, known.cache_bytes_max};
    });
}

transcribe_status transcribe_session_free(transcribe_session* session) {
    return api::free_handle(api::sessions(), session);
}
