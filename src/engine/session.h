// One caller's private machine: checks options once, runs the family's worker, times, cancels. Many
// sessions share one model and compute at the same time; one session serves one thread at a time.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "asr/model.h"
#include "asr/voice.h"

namespace transcribe {

class TapSink;  // tensor/compute.h

struct SessionOptions {
    int n_threads = 0;  // 0: as many as the process may use
    // Windows decoded at once. More than one: recordings are cut where nobody speaks, and the
    // pieces are decoded independently of each other, unless they shall see the text before them
    // (Options::condition_on_previous_text). 0: some, of recordings that are longer than a minute.
    int batch_size = 0;
    i64 piece_ms_max = 0;  // of those pieces; 0: what the model likes best
    int n_ctx = 0;         // tokens that a row of a language model may hold; 0: what the model has
    std::shared_ptr<const VoiceDetector> voice = {};  // for Options::vad
};

class Session {
  public:
    Session();
    static Expected<std::unique_ptr<Session>> make(std::shared_ptr<const Model> model,
                                                   const SessionOptions& options = {});
    ~Session();
    // One Transcript a recording, in order. Errors before any work: invalid_argument (Options::vad
    // without a detector), unsupported (language, task, what else the model has not). A fault of
    // one recording is in its Transcript. After cancel(): every Transcript holds what was decoded
    // and outcome is truncated with error.code aborted.
    Expected<std::vector<Transcript>> transcribe(std::span<AudioSource* const> recordings,
                                                 const Options& options);
    // See Worker::answer.
    Expected<Answer> answer(std::string_view text, const Options& options);
    // Validates language and task against the model; transcribe() does the same. Gives the
    // language code ("" when it is to be detected).
    Expected<std::string> check(const Options& options) const;
    Limits limits() const;
    // Ends the run under way, or the next one when none is. From any thread, and a signal handler.
    void cancel() noexcept;
    void observe(TapSink* sink);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace transcribe
