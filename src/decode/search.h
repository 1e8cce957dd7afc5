// How the text of one window is found: greedily, by drawing several texts, or with a beam
// (openai-whisper, decoding.py: GreedyDecoder, BeamSearchDecoder, MaximumLikelihoodRanker).
//
// A search owns a group of rows. Whoever computes gives it the scores of each row's next token, and
// it says which token every row takes and which row it goes on from.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "decode/rules.h"

namespace transcribe {

struct SearchSpec {
    int eot = 0;
    size_t n_tokens_max = 0;  // sampled tokens of a text
    int n_rows = 1;           // at temperature 0 more than one is a beam
    float temperature = 0;
    float patience = 1;                   // a beam ends after round(n_rows * patience) texts
    std::optional<float> length_penalty;  // none: the mean log probability ranks
    unsigned seed = 0;
    bool ends_loops = false;  // a text that has become a loop is not worth its end
    std::vector<int> forced;  // how every text begins; not sampled, and no part of its score
};

struct Hypothesis {
    std::vector<int> tokens;      // forced ones first; without end-of-text
    std::vector<float> logprobs;  // [tokens]; 0 for forced ones
    float sum_logprob = 0;        // of the sampled tokens, end-of-text included
    bool looping = false;         // see is_looping
};

// Whether the tokens end in the same few again and again: at least eight times and 32 tokens.
bool is_looping(std::span<const int> tokens);
// How many tokens are left when what they repeat at their end is said once; all where they do not.
size_t n_without_loop(std::span<const int> tokens);

class Search {
  public:
    virtual ~Search() = default;
    // Scores of the next token: of one row at the first call, when all rows are still alike, then
    // [V, n_rows]. They are masked in place.
    virtual void take(std::span<float> logits) = 0;
    virtual bool done() const = 0;
    // After take(): what each row says next, and whether it has ended.
    int next(int row) const { return next_[static_cast<size_t>(row)]; }
    virtual bool ended(int row) const = 0;
    // Rows whose past becomes that of another one, before the next tokens are fed: {from, to}.
    std::span<const std::pair<int, int>> copies() const { return copies_; }
    int n_rows() const { return static_cast<int>(next_.size()); }
    // Of a beam the best text, else what each row said.
    virtual std::vector<Hypothesis> texts() const = 0;

  protected:
    explicit Search(int n_rows) : next_(static_cast<size_t>(n_rows)) {}
    std::vector<int> next_;
    std::vector<std::pair<int, int>> copies_;
};

// `rule` must outlive the search.
std::unique_ptr<Search> make_search(const SearchSpec& spec, const LogitRule& rule);

}  // namespace transcribe
