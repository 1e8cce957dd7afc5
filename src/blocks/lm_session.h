// A session's half of a causal language model: its cache and the graphs of prompts and steps.
//
// A batch of prompts is read at once, padded to the longest; then one step after another gives
// every row a token more, until the caller has ended all rows. The cache grows with the longest row
// in powers of two, up to the limit; the graph of a step is built once for each 256 tokens held.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "blocks/causal_lm.h"

namespace transcribe {

// One row's prompt: tokens, of which some are stood in for by rows of numbers (audio).
struct LmPrompt {
    std::vector<int> ids;           // 0 where a number stands in
    size_t others_at = 0;           // the first of those
    std::span<const float> others;  // [d, n], n may be 0
};

class LmSession {
  public:
    // `lm` must outlive it. A row holds at most `n_ctx_max` tokens; `dtype` of the cache: F32, F16.
    LmSession(Compute& compute, const CausalLm& lm, int n_ctx_max, Dtype dtype)
        : compute_(compute), lm_(lm), n_ctx_max_(n_ctx_max), dtype_(dtype) {}

    // Forgets all rows and reads prompts, none of them empty or over n_ctx_max: logits [V, B] after
    // each. Valid until the next call.
    Expected<std::span<float>> prefill(std::span<const LmPrompt> prompts);
    // Reads one token a row behind what it holds: logits [V, B]. The token of a row that has ended
    // does not count. No row may hold n_ctx_max tokens.
    Expected<std::span<float>> step(std::span<const int> ids);
    // This row needs no more tokens.
    void end(int row) { feed_.end(row); }
    int held(int row) const { return feed_.held(row); }

    int n_ctx_max() const { return n_ctx_max_; }
    // What the cache of so many rows can grow to.
    static size_t cache_bytes_max(const CausalLmSpec& spec, int n_ctx_max, Dtype dtype, int n_rows);

  private:
    Status make_room(int n_rows, int n_held, int n_wanted);

    Compute& compute_;
    const CausalLm& lm_;
    int n_ctx_max_;
    Dtype dtype_;
    std::optional<KvCache> cache_;
    StepFeed feed_{0};
    StepInputs in_;  // of the step graph under way
    bool in_step_ = false;
    Tensor logits_;  // [V, B]
};

}  // namespace transcribe
