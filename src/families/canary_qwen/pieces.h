// A recording piece by piece: each is heard at once and decoded independently of the others. Memory
// is that of one piece.
#pragma once

#include <optional>
#include <vector>

#include "asr/types.h"

namespace transcribe::canary_qwen {

struct Piece {
    TimeSpan span;               // of the recording
    std::vector<float> samples;  // 16 kHz mono
    // Nobody hears anything: to be decoded it has nothing but what the model would invent.
    bool is_silent() const;
};

class PieceReader {
  public:
    // `recording` must outlive it; whole, it must be at most `ms_max` long.
    PieceReader(const Recording& recording, i64 ms_max) : recording_(recording), ms_max_(ms_max) {}
    // The longest piece of those that the caller has named, in ms; 0 where it has named none.
    i64 longest_ms() const;
    // The next one, which is not empty; nothing behind the last. Errors: those of the recording;
    // bad_audio (samples that are not finite); invalid_argument (a whole recording is too long).
    Expected<std::optional<Piece>> next();
    i64 n_samples() const { return n_samples_; }  // of the recording, that were read
    double total_s() const;                       // 0 where it is not known yet

  private:
    Expected<Piece> read(TimeSpan span);

    const Recording& recording_;
    i64 ms_max_;
    size_t n_read_ = 0;  // pieces
    i64 n_samples_ = 0;
    bool ended_ = false;
};

}  // namespace transcribe::canary_qwen
