// The choice of the next token from its scores, and the arithmetic for it. A score of minus
// infinity is a token that cannot come; NaN counts as that.
//
// All of this runs over some 50,000 scores for each token, so the loops are written for the
// compiler to vectorize, and it pays to let it use AVX2.
#pragma once

#include <random>
#include <span>
#include <vector>

namespace transcribe {

struct Picked {
    int id = 0;
    float logprob = 0;  // natural logarithm of its probability among all scores
};

// The highest score; of equals the first. `logits` must not be empty.
Picked pick_greedy(std::span<const float> logits);

// The `n` highest scores, best first; of equals the one with the lower id.
std::vector<Picked> pick_top(std::span<const float> logits, size_t n);

// Draws from the scores divided by `temperature` (> 0; 0 is pick_greedy); logprob is the one at
// temperature 1.
Picked pick_sampled(std::span<const float> logits, float temperature, std::mt19937& random);

float max_of(std::span<const float> values);  // minus infinity when there is none
float log_sum_exp(std::span<const float> values);
float probability_of(std::span<const float> logits, int id);

}  // namespace transcribe
