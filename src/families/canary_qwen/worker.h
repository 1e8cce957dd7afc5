// Canary-Qwen's half of a session: pieces of one or of several recordings are heard, prompted and
// spoken in batches, in their order.
#pragma once

#include "asr/model.h"
#include "families/canary_qwen/encoder.h"
#include "families/canary_qwen/model.h"
#include "families/canary_qwen/speaker.h"

namespace transcribe::canary_qwen {

class CanaryQwenWorker : public Worker {
  public:
    CanaryQwenWorker(Compute& compute, const CanaryQwenModel& model, const WorkerOptions& options);
    Status run(std::span<const Recording> recordings, const Options& options,
               std::span<Transcript> out) override;
    Limits limits() const override;
    Expected<Answer> answer(std::string_view text, const Options& options) override;

  private:
    struct Run;  // the recordings under way
    const CanaryQwenModel& model_;
    int batch_size_;
    AudioEncoder encoder_;
    Speaker speaker_;
};

}  // namespace transcribe::canary_qwen
