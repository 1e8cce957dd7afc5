// The C functions of runs and results.
#include <algorithm>

#include "api/options.h"
#include "api/run.h"

namespace api = transcribe::api;

namespace {

// A result goes to the caller where there is something to read.
bool is_readable(transcribe_status status) {
    return status == TRANSCRIBE_OK || status == TRANSCRIBE_ABORTED ||
           status == TRANSCRIBE_OUTPUT_TRUNCATED;
}

void run_one(transcribe_session* session, const transcribe_clip& clip,
             const transcribe_run_options* options, transcribe_result** out) {
    api::need(out, "result is null");
    *out = nullptr;
    auto object = api::object_of(api::sessions(), session);
    auto result = api::run(*object, {&clip, 1}, options).at(0);
    const api::Refusal refusal = result->refusal();
    if (is_readable(refusal.status)) api::give(api::results(), std::move(result), out);
    if (refusal.status != TRANSCRIBE_OK) throw refusal;
}

}  // namespace

transcribe_status transcribe_run_options_init(transcribe_run_options* options, size_t size) {
    return api::guard([&] {
        api::need(options, "options is null");
        api::need_size(size, sizeof *options, "transcribe_run_options");
        *options = api::options_or_defaults(static_cast<transcribe_run_options*>(nullptr));
    });
}

transcribe_status transcribe_run(transcribe_session* session, const float* pcm, size_t n_samples,
                                 const transcribe_run_options* options,
                                 transcribe_result** result) {
    return api::guard([&] { run_one(session, {pcm, n_samples, nullptr}, options, result); });
}

transcribe_status transcribe_run_file(transcribe_session* session, const char* path,
                                      const transcribe_run_options* options,
                                      transcribe_result** result) {
    return api::guard([&] {
        api::need(path, "path is null");
        run_one(session, {nullptr, 0, path}, options, result);
    });
}

transcribe_status transcribe_run_batch(transcribe_session* session, const transcribe_clip* clips,
                                       size_t n_clips, const transcribe_run_options* options,
                                       transcribe_result** results) {
    return api::guard([&] {
        api::need(n_clips <= TRANSCRIBE_CLIPS_MAX, "n_clips is more than TRANSCRIBE_CLIPS_MAX");
        api::need((clips && results) || n_clips == 0, "clips or results is null");
        std::fill_n(results, n_clips, nullptr);
        auto object = api::object_of(api::sessions(), session);
        auto done = api::run(*object, {clips, n_clips}, options);
        for (size_t i = 0; i < n_clips; i++) {
            api::give(api::results(), std::move(done[i]), &results[i]);
        }
    });
}

transcribe_status transcribe_result_get_info(const transcribe_result* result,
                                             transcribe_result_info* info) {
    return api::guard([&] {
        auto object = api::object_of(api::results(), result);
        api::need(info, "info is null");
        api::need_size(info->size, sizeof *info, "transcribe_result_info");
        *info = object->info();
        info->size = sizeof *info;
    });
}

transcribe_status transcribe_result_get_segment(const transcribe_result* result, size_t index,
                                                transcribe_segment* segment) {
    return api::guard([&] {
        auto object = api::object_of(api::results(), result);
        api::need(segment, "segment is null");
        api::need_size(segment->size, sizeof *segment, "transcribe_segment");
        *segment = object->segment(index);
        segment->size = sizeof *segment;
    });
}

transcribe_status transcribe_result_format(const transcribe_result* result, const char* format,
                                           const char** text) {
    return api::guard([&] {
        api::need(text, "text is null");
        *text = nullptr;
        api::need(format, "format is null");
        *text = api::object_of(api::results(), result)->formatted(format);
    });
}

transcribe_status transcribe_result_free(transcribe_result* result) {
    return api::free_handle(api::results(), result);
}
