// The greedy texts of a batch of prompts: read at once, then a token more for every row until each
// has ended for itself.
#pragma once

#include <span>
#include <vector>

#include "blocks/lm_session.h"

namespace transcribe::canary_qwen {

struct Said {
    enum class End { cut_short, by_itself, at_the_limit, in_a_loop };
    std::vector<int> tokens;  // without the end token; a loop is said once
    std::vector<float> logprobs;
    float sum_logprob = 0;
    End end = End::cut_short;
};

struct ToSay {
    LmPrompt prompt;
    int n_tokens_max = 0;  // with the prompt at most n_ctx
};

class Speaker {
  public:
    Speaker(Compute& compute, const CausalLm& lm, int n_ctx, Dtype cache_dtype, int end_token)
        : session_(compute, lm, n_ctx, cache_dtype), end_token_(end_token) {}
    // `said` has a place for each. After an error it holds what was said until then. Errors:
    // aborted, out_of_memory, backend.
    Status speak(std::span<const ToSay> what, std::span<Said> said);
    int n_ctx() const { return session_.n_ctx_max(); }

    double prefill_ms = 0, step_ms = 0;  // of all calls
    int n_steps = 0;

  private:
    LmSession session_;
    int end_token_;
};

}  // namespace transcribe::canary_qwen
