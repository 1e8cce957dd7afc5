// A recording on its way through the worker: its pieces, and what becomes of their texts. Host code
// only.
#pragma once

#include "asr/types.h"
#include "families/canary_qwen/pieces.h"
#include "families/canary_qwen/speaker.h"
#include "text/tokenizer.h"

namespace transcribe::canary_qwen {

// What tokens say, trimmed; valid UTF-8.
std::string text_of(const Tokenizer& tokenizer, std::span<const int> tokens);

class Transcribing {
  public:
    Transcribing(const Recording& recording, const Options& options, int index);
    // Refuses a recording of which a piece is longer than the context of the session allows.
    void limit(i64 ms_max, int n_prompt, int n_ctx);
    // The next piece with sound; null when there is none left, or a fault ended the recording.
    const Piece* next();
    // The text of a piece that next() gave, in their order.
    void accept(TimeSpan span, const Said& said, const Tokenizer& tokenizer);
    void report_progress() const;
    // Ends early: what was said stays.
    void interrupt(const Error& error);
    Transcript take(const Timings& timings);

  private:
    void fail(Outcome outcome, Error error);
    bool too_long(i64 ms);
    void note(const std::string& sentence);

    const Options& options_;
    int index_;
    PieceReader reader_;
    std::optional<Piece> piece_;
    i64 ms_max_ = 0;
    int n_prompt_ = 0, n_ctx_ = 0;
    bool ended_ = false;  // next() has nothing more
    int n_open_ = 0;      // pieces without their whole text
    Transcript transcript_;
};

}  // namespace transcribe::canary_qwen
