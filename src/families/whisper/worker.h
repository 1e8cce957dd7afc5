// Whisper's half of a session: windows of several recordings as rows of one batch.
#pragma once

#include <deque>

#include "asr/model.h"
#include "families/whisper/decoder.h"
#include "families/whisper/longform.h"

namespace transcribe::whisper {

class WhisperWorker : public Worker {
  public:
    WhisperWorker(const LongForm::Facts& facts, std::unique_ptr<WindowDecoder> decoder,
                  int n_rows_max)
        : facts_(facts), decoder_(std::move(decoder)), n_rows_max_(n_rows_max) {}

    Status run(std::span<AudioSource* const> recordings, const Options& options,
               std::span<Transcript> out) override;

  private:
    Status run_group(std::deque<LongForm>& forms, const Options& options);
    // The next window of each recording that has one, as rows; their mels lie one after another.
    std::vector<LongForm*> gather(std::deque<LongForm>& forms);
    Status decode(std::span<LongForm* const> rows, const Options& options);

    LongForm::Facts facts_;
    std::unique_ptr<WindowDecoder> decoder_;
    int n_rows_max_;
    std::vector<float> mels_;
};

}  // namespace transcribe::whisper
