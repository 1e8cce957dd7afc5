#include "engine/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>

#include "asr/languages.h"
#include "base/env.h"
#include "base/text.h"
#include "base/trace.h"
#include "engine/heard.h"
#include "engine/observe.h"
#include "engine/pieces.h"
#include "tensor/compute.h"

namespace transcribe {

struct Session::State {
    std::shared_ptr<const Model> model;
    std::unique_ptr<NpyTaps> taps;  // null when nobody asked
    std::unique_ptr<Compute> compute;
    std::unique_ptr<Worker> worker;
    std::unique_ptr<Listener> listener;  // null without a detector
    int batch_size = 0;                  // as asked
    i64 piece_ms_max = 0;

    Status prepare(Heard& heard, const Options& options);
    Expected<std::vector<int>> prepare(std::vector<Heard>& heard, const Options& options,
                                       std::span<Transcript> out);
    Status decode(std::vector<Heard>& heard, const Options& options, std::span<Transcript> out);
};

namespace {

// Where the caller leaves it to us: so many windows at once make a decoder's step cost little for
// each, and more would take memory; in shorter recordings there is little to win.
constexpr int usual_batch_size = 4;
constexpr i64 uncut_ms = 60000;

// A fault of the session and not of one recording.
bool ends_all(const Error& error) {
    return error.code == Code::aborted || error.code == Code::backend ||
           error.code == Code::out_of_memory;
}

// Reading ends with the run: a long recording is read whole before its first window.
class Cancellable : public AudioSource {
  public:
    Cancellable(AudioSource& source, const std::atomic<bool>& cancelled)
        : source_(source), cancelled_(cancelled) {}
    Expected<size_t> read(std::span<float> out) override {
        if (cancelled_) return Error{Code::aborted, "cancelled"};
        return source_.read(out);
    }
    Status rewind() override { return source_.rewind(); }

  private:
    AudioSource& source_;
    const std::atomic<bool>& cancelled_;
};

// What the worker says of the recordings it was given is said of the caller's: `todo` are their
// numbers.
Options in_own_times(const Options& options, std::vector<Heard>& heard,
                     const std::vector<int>& todo) {
    Options own = options;
    if (options.vad) own.clips.clear();  // they are part of what is heard
    if (options.on_segment) {
        own.on_segment = [&](int k, const Segment& segment) {
            int i = todo[static_cast<size_t>(k)];
            Heard& recording = heard[static_cast<size_t>(i)];
            for (const Segment& part : recording.restore(segment, options)) {
                options.on_segment(i, part);
            }
        };
    }
    if (options.on_progress) {
        own.on_progress = [&](int k, double done_s, double total_s) {
            int i = todo[static_cast<size_t>(k)];
            const Heard& recording = heard[static_cast<size_t>(i)];
            double whole_s = options.vad ? recording.duration_s() : total_s;
            bool done = done_s >= total_s;
            options.on_progress(i, done ? whole_s : recording.time_s(done_s), whole_s);
        };
    }
    return own;
}

// Of the pieces that recordings are cut into.
i64 piece_length(const SessionOptions& options, const ModelInfo& info) {
    const i64 most_ms = info.piece_ms_max > 0 ? info.piece_ms_max : default_piece_ms_max;
    if (options.piece_ms_max <= 0) return most_ms;
    return std::clamp(options.piece_ms_max, shortest_piece_ms_max, most_ms);
}

}  // namespace

Session::Session() = default;
Session::~Session() = default;

Expected<std::unique_ptr<Session>> Session::make(std::shared_ptr<const Model> model,
                                                 const SessionOptions& options) {
    int n_threads = options.n_threads > 0 ? options.n_threads : usable_cpus();
    auto session = std::make_unique<Session>();
    session->state_ = std::make_unique<State>();
    State& s = *session->state_;
    s.model = std::move(model);
    TRY_SET(Device device, Device::pick(s.model->info().device));
    TRY_SET(auto lanes, Lanes::make(1, n_threads));
    TRY_SET(s.compute, Compute::make(device, std::move(lanes)));
    s.compute->flash = env(Var::flash) != "0";
    s.compute->rounding = s.model->info().rounding;
    TRY_SET(s.taps, taps_of_environment());
    if (s.taps) s.compute->observe(s.taps.get());
    const int n_rows = options.batch_size > 0 ? options.batch_size : usual_batch_size;
    TRY_SET(s.worker, s.model->worker(*s.compute, {n_rows, options.n_ctx}));
    if (options.voice) {
        TRY_SET(s.listener, Listener::make(options.voice));
    }
    s.batch_size = options.batch_size;
    s.piece_ms_max = piece_length(options, s.model->info());
    return session;
}

Expected<std::string> Session::check(const Options& options) const {
    const ModelInfo& info = state_->model->info();
    if (options.task == Task::translate && !info.translates) {
        return Error{
            Code::unsupported,
            fmt::format("the model {} cannot translate; use a multilingual model", info.name)};
    }
    if (options.timestamps && !info.has_timestamps) {
        return Error{Code::unsupported, fmt::format("the model {} gives no times", info.name)};
    }
    if (options.vad && !state_->listener) {
        return Error{Code::invalid_argument,
                     "speech is to be told from other sound, and the session has no detector "
                     "(SessionOptions::voice)"};
    }
    TRY(state_->model->check(options));
    const std::string& asked = options.language;
    if (asked.empty() || asked == "auto") {
        return info.detects_language ? std::string() : info.languages.at(0);
    }
    std::string code = language_code(asked);
    for (const std::string& known : info.languages) {
        if (code == known) return code;
    }
    return Error{Code::unsupported,
                 fmt::format("the model {} does not know the language \"{}\"; it knows {}{}",
                             info.name, printable(asked, 40), info.detects_language ? "auto, " : "",
                             fmt::join(info.languages, ", "))};
}

Status Session::State::prepare(Heard& recording, const Options& options) {
    if (options.vad) TRY(recording.find_speech(*listener, options));
    const bool may_cut = options.clips.empty() || options.vad;
    if (!may_cut || recording.is_silent()) return {};
    if (model->info().piece_ms_max > 0) return recording.cut(piece_ms_max, 0);
    const bool side_by_side =
        batch_size != 1 && !options.condition_on_previous_text.value_or(false);
    if (!side_by_side) return {};
    return recording.cut(piece_ms_max, batch_size > 0 ? 0 : uncut_ms);
}

// Listens to all recordings: the numbers of those that have something to decode. The transcripts of
// the others are complete. Errors: those that end all.
Expected<std::vector<int>> Session::State::prepare(std::vector<Heard>& heard,
                                                   const Options& options,
                                                   std::span<Transcript> out) {
    std::vector<int> todo;
    for (size_t i = 0; i < heard.size(); i++) {
        Status status = prepare(heard[i], options);
        if (!status && ends_all(status.error())) return std::move(status).error();
        if (!status) {
            out[i].outcome = Outcome::invalid;
            out[i].error = std::move(status).error();
        } else if (heard[i].is_silent()) {
            out[i].language = options.language;
            out[i].language_probability = options.language.empty() ? 0 : 1;
            out[i].duration_s = heard[i].duration_s();
        } else {
            todo.push_back(static_cast<int>(i));
        }
    }
    return todo;
}

Status Session::State::decode(std::vector<Heard>& heard, const Options& options,
                              std::span<Transcript> out) {
    auto todo = prepare(heard, options, out);
    if (!todo) {
        for (Transcript& none : out) {
            none.outcome = Outcome::truncated;
            none.error = todo.error();
        }
        return std::move(todo).error();
    }
    std::vector<Recording> recordings;
    for (int i : *todo) recordings.push_back(heard[static_cast<size_t>(i)].recording());
    std::vector<Transcript> decoded(todo->size());
    std::optional<Compute::Lease> lease;
    {
        Span span("lane wait");
        lease.emplace(*compute);
    }
    Status status = worker->run(recordings, in_own_times(options, heard, *todo), decoded);
    for (size_t k = 0; k < todo->size(); k++) {
        auto i = static_cast<size_t>((*todo)[k]);
        heard[i].restore(decoded[k], options);
        out[i] = std::move(decoded[k]);
    }
    return status;
}

Expected<std::vector<Transcript>> Session::transcribe(std::span<AudioSource* const> recordings,
                                                      const Options& options) {
    Options checked = options;
    TRY_SET(checked.language, check(options));
    std::deque<Cancellable> sources;
    std::vector<Heard> heard;
    for (AudioSource* audio : recordings) {
        heard.emplace_back(sources.emplace_back(*audio, state_->compute->cancelled()));
    }
    std::vector<Transcript> out(recordings.size());
    Status status = state_->decode(heard, checked, out);
    for (Transcript& transcript : out) {
        if (transcript.error.code == Code::aborted) transcript.outcome = Outcome::truncated;
    }
    state_->compute->cancelled() = false;  // the session goes on being usable
    if (state_->listener) state_->listener->cancelled() = false;
    if (!status && status.error().code != Code::aborted) return std::move(status).error();
    if (state_->taps) TRY(state_->taps->status());
    return out;
}

Expected<Answer> Session::answer(std::string_view text, const Options& options) {
    Compute::Lease lease(*state_->compute);
    Expected<Answer> answer = state_->worker->answer(text, options);
    state_->compute->cancelled() = false;
    return answer;
}

Limits Session::limits() const {
    return state_->worker->limits();
}

void Session::cancel() noexcept {
    state_->compute->cancelled() = true;
    if (state_->listener) state_->listener->cancelled() = true;
}

void Session::observe(TapSink* sink) {
    state_->compute->observe(sink);
}

}  // namespace transcribe
