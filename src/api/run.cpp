#include "api/run.h"

#include "api/options.h"
#include "audio/decode.h"

namespace transcribe::api {

namespace {

constexpr double frame_s = 0.01;  // families count whole ones: the last one may be short

// Session::check has refused: the facts of the model say which wish it was.
transcribe_status unsupported_wish(const ModelInfo& info, const Options& options) {
    if (options.task == Task::translate && !info.translates) return TRANSCRIBE_UNSUPPORTED_TASK;
    if (options.timestamps && !info.has_timestamps) return TRANSCRIBE_UNSUPPORTED_TIMESTAMPS;
    if (options.word_timestamps && !info.has_words) return TRANSCRIBE_UNSUPPORTED_TIMESTAMPS;
    return TRANSCRIBE_UNSUPPORTED_LANGUAGE;
}

// `todo` are the caller's numbers of the recordings that run.
void add_callbacks(const transcribe_run_options& given, const std::vector<size_t>& todo,
                   Options& options) {
    if (given.on_segment) {
        options.on_segment = [&](int i, const Segment& segment) {
            SegmentView view(segment);
            transcribe_segment c = view.c();
            c.size = sizeof c;
            given.on_segment(given.user, todo[static_cast<size_t>(i)], &c);
        };
    }
    if (given.on_progress) {
        options.on_progress = [&](int i, double done_s, double total_s) {
            double fraction = 0;
            if (total_s > 0) fraction = done_s + frame_s > total_s ? 1 : done_s / total_s;
            given.on_progress(given.user, todo[static_cast<size_t>(i)], fraction);
        };
    }
}

std::unique_ptr<AudioSource> open(const transcribe_clip& clip) {
    if (clip.path) return value_of(AudioFile::open(clip.path));
    return std::make_unique<MemorySource>(samples(clip.pcm, clip.n_samples));
}

}  // namespace

Options session_options(const SessionObject& session, const transcribe_run_options& given) {
    Options options = run_options(given);
    need(!options.vad || session.has_voice,
         "vad needs a session with a detector (transcribe_session_options::vad_model)");
    auto language = session.session->check(options);
    if (language) return options;
    const ModelInfo& info = session.model->model->info();
    throw refusal(std::move(language).error(), unsupported_wish(info, options));
}

std::vector<std::shared_ptr<ResultObject>> run(SessionObject& session,
                                               std::span<const transcribe_clip> clips,
                                               const transcribe_run_options* options) {
    Turn turn(session.busy);
    transcribe_run_options given = options_or_defaults(options);
    Options checked = session_options(session, given);
    std::vector<std::shared_ptr<ResultObject>> results(clips.size());
    std::vector<std::unique_ptr<AudioSource>> opened;
    std::vector<AudioSource*> sources;
    std::vector<size_t> todo;
    for (size_t i = 0; i < clips.size(); i++) {
        try {
            opened.push_back(open(clips[i]));
        } catch (Refusal& refusal) {
            results[i] = std::make_shared<ResultObject>(std::move(refusal));
            continue;
        }
        sources.push_back(opened.back().get());
        todo.push_back(i);
    }
    add_callbacks(given, todo, checked);
    auto transcripts = value_of(session.session->transcribe(sources, checked));
    for (size_t k = 0; k < todo.size(); k++) {
        results[todo[k]] = std::make_shared<ResultObject>(std::move(transcripts[k]));
    }
    return results;
}

}  // namespace transcribe::api
