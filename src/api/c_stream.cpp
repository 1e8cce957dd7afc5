// The C functions of streams: text of a recording while it goes on.
#include <algorithm>

#include "api/objects.h"
#include "api/options.h"
#include "api/run.h"

namespace api = transcribe::api;

namespace {

// More than this is not taken at once, so that text comes while a long sound is fed.
constexpr size_t n_at_once_max = 5 * transcribe::sample_rate;

void check_text(const transcribe_stream_text* text) {
    if (text) api::need_size(text->size, sizeof *text, "transcribe_stream_text");
}

void take(api::StreamObject& stream, transcribe::Expected<transcribe::StreamText> text) {
    transcribe::StreamText given = api::value_of(std::move(text));
    stream.said.insert(stream.said.end(), given.committed.begin(), given.committed.end());
    stream.partial = std::move(given.partial);
}

void show(api::StreamObject& stream, transcribe_stream_text* text) {
    stream.committed.clear();
    stream.words.clear();
    for (const transcribe::Word& word : stream.said) {
        stream.committed += word.text;
        stream.words.push_back(api::word_view(word));
    }
    if (!text) return;
    *text = {sizeof *text, stream.committed.c_str(), stream.words.data(), stream.words.size(),
             stream.partial.c_str()};
}

}  // namespace

transcribe_status transcribe_stream_open(transcribe_session* session,
                                         const transcribe_run_options* options,
                                         transcribe_stream** stream) {
    return api::guard([&] {
        api::need(stream, "stream is null");
        *stream = nullptr;
        auto object = std::make_shared<api::StreamObject>();
        object->session = api::object_of(api::sessions(), session);
        transcribe::StreamOptions stream_options;
        stream_options.decoding =
            api::session_options(*object->session, api::options_or_defaults(options));
        object->stream =
            std::make_unique<transcribe::Stream>(*object->session->session, stream_options);
        api::give(api::streams(), std::move(object), stream);
    });
}

transcribe_status transcribe_stream_feed(transcribe_stream* stream, const float* pcm,
                                         size_t n_samples, transcribe_stream_text* text) {
    return api::guard([&] {
        auto object = api::object_of(api::streams(), stream);
        check_text(text);
        auto left = api::samples(pcm, n_samples);
        api::Turn turn(object->busy), of_session(object->session->busy);
        object->said.clear();
        while (!left.empty()) {
            size_t n = std::min(left.size(), n_at_once_max);
            object->stream->feed(left.first(n));
            left = left.subspan(n);
            if (object->stream->is_due()) take(*object, object->stream->update());
        }
        show(*object, text);
    });
}

transcribe_status transcribe_stream_finish(transcribe_stream* stream,
                                           transcribe_stream_text* text) {
    return api::guard([&] {
        auto object = api::object_of(api::streams(), stream);
        check_text(text);
        api::Turn turn(object->busy), of_session(object->session->busy);
        object->said.clear();
        take(*object, object->stream->finish());
        show(*object, text);
    });
}

transcribe_status transcribe_stream_get_result(transcribe_stream* stream,
                                               transcribe_result** result) {
    return api::guard([&] {
        api::need(result, "result is null");
        *result = nullptr;
        auto object = api::object_of(api::streams(), stream);
        api::Turn turn(object->busy);
        auto transcript = std::make_shared<api::ResultObject>(object->stream->transcript());
        api::give(api::results(), std::move(transcript), result);
    });
}

transcribe_status transcribe_stream_free(transcribe_stream* stream) {
    return api::free_handle(api::streams(), stream);
}
