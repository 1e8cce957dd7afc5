// What a family forbids while it decodes: a rule changes the scores of the next token.
#pragma once

#include <span>

namespace transcribe {

class LogitRule {
  public:
    virtual ~LogitRule() = default;
    // `sampled`: the tokens of this row so far, without the prompt. `logits`: one score a token;
    // what must not come next becomes minus infinity.
    virtual void apply(std::span<const int> sampled, std::span<float> logits) const = 0;
};

}  // namespace transcribe
