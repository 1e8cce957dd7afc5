#include "engine/session.h"

#include <fmt/format.h>

#include <optional>

#include "asr/languages.h"
#include "base/env.h"
#include "base/text.h"
#include "base/trace.h"
#include "engine/observe.h"
#include "tensor/compute.h"

namespace transcribe {

struct Session::State {
    std::shared_ptr<const Model> model;
    std::unique_ptr<NpyTaps> taps;  // null when nobody asked
    std::unique_ptr<Compute> compute;
    std::unique_ptr<Worker> worker;
};

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
    TRY_SET(s.taps, taps_of_environment());
    if (s.taps) s.compute->observe(s.taps.get());
    TRY_SET(s.worker, s.model->worker(*s.compute, std::max(1, options.batch_size)));
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

Expected<std::vector<Transcript>> Session::transcribe(std::span<AudioSource* const> recordings,
                                                      const Options& options) {
    Options checked = options;
    TRY_SET(checked.language, check(options));
    std::vector<Transcript> out(recordings.size());
    std::optional<Compute::Lease> lease;
    {
        Span span("lane wait");
        lease.emplace(*state_->compute);
    }
    std::vector<Recording> all;
    for (AudioSource* audio : recordings) all.push_back({audio, {}});
    Status status = state_->worker->run(all, checked, out);
    state_->compute->cancelled() = false;  // the session goes on being usable
    if (!status && status.error().code != Code::aborted) return std::move(status).error();
    if (state_->taps) TRY(state_->taps->status());
    return out;
}

void Session::cancel() noexcept {
    state_->compute->cancelled() = true;
}

void Session::observe(TapSink* sink) {
    state_->compute->observe(sink);
}

}  // namespace transcribe
