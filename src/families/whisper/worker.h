// Whisper's half of a session: windows of one or of several recordings take the seats of the
// decoder, and whoever has ended makes room for the next.
#pragma once

#include <memory>

#include "asr/model.h"
#include "families/whisper/decoder.h"
#include "families/whisper/longform.h"

namespace transcribe::whisper {

class WhisperWorker : public Worker {
  public:
    // `n_seats_max`: windows that are decoded at once.
    WhisperWorker(const Facts& facts, std::unique_ptr<WindowDecoder> decoder, int n_seats_max)
        : facts_(facts), decoder_(std::move(decoder)), n_seats_max_(n_seats_max) {}

    Status run(std::span<const Recording> recordings, const Options& options,
               std::span<Transcript> out) override;
    Limits limits() const override {
        return {0, decoder_->cache_bytes_of_seat() * static_cast<size_t>(n_seats_max_)};
    }

  private:
    struct Run;  // the recordings under way
    Facts facts_;
    std::unique_ptr<WindowDecoder> decoder_;
    int n_seats_max_;
};

}  // namespace transcribe::whisper
