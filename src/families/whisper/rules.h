// Which tokens Whisper may say next. Same outcome as the reference's SuppressBlank, SuppressTokens
// and ApplyTimestampRules, in that order (openai-whisper, decoding.py).
//
// What bites: the sum over timestamps is compared with the best text token after all other masks,
// and so must be taken from the masked scores. Without timestamps the reference masks neither
// timestamps nor no-timestamps, and neither does this.
#pragma once

#include <span>
#include <vector>

#include "base/audio_source.h"
#include "decode/rules.h"
#include "text/tokenizer.h"

namespace transcribe {

// Ids of the control tokens, as the model file has them; -1 where a model lacks one.
struct SpecialTokens {
    int eot = -1;
    int sot = -1;
    int translate = -1;
    int transcribe = -1;
    int sot_lm = -1;
    int sot_prev = -1;
    int no_speech = -1;
    int no_timestamps = -1;
    int timestamp_begin = -1;  // <|0.00|>; all ids from here on are timestamps
    int n_vocab = 0;
    std::vector<int> languages;  // in the order of the vocabulary
};

// What must hold of a model file before rules are made of it: 0 <= eot < timestamp_begin < n_vocab.
bool are_in_order(const SpecialTokens& special);

struct RuleOptions {
    std::vector<int> suppress;           // at each step; the control tokens are always added
    std::vector<int> suppress_at_start;  // blank and end of text
    bool timestamps = true;
    int max_initial_timestamp = 50;  // in steps of 20 ms
};

class WhisperRules final : public LogitRule {
  public:
    // Needs are_in_order(special); ids of the lists that are no tokens are ignored.
    WhisperRules(const SpecialTokens& special, const RuleOptions& options);
    void apply(std::span<const int> sampled, std::span<float> logits) const override;

  private:
    void apply_timestamps(std::span<const int> sampled, std::span<float> logits) const;
    bool is_timestamp(int id) const { return id >= timestamp_begin_; }
    int eot_, timestamp_begin_, n_vocab_;
    int max_initial_timestamp_;
    bool timestamps_;
    std::vector<int> suppress_, suppress_at_start_;
};

// The rules in the last window of a piece of a recording: a segment that begins is also said. What
// it takes for cut off by the end of the window the model leaves to the next one, and a piece has
// no next one. Not of the reference, which has no pieces.
class LastWindowRules final : public LogitRule {
  public:
    // `rules` must outlive this. `n_frames`: how much of the window is recording.
    LastWindowRules(const WhisperRules& rules, const SpecialTokens& special, i64 n_frames);
    void apply(std::span<const int> sampled, std::span<float> logits) const override;

  private:
    const WhisperRules* rules_;
    int eot_, timestamp_begin_, timestamp_end_;
};

// The tokens of signs that are not speech (brackets, notes of music, ...), for model files that do
// not list what to suppress: the reference's Tokenizer.non_speech_tokens.
std::vector<int> non_speech_tokens(const Tokenizer& tokenizer);

}  // namespace transcribe
