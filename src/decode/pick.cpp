#include "decode/pick.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "base/check.h"

namespace transcribe {

namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();
constexpr size_t n_lanes = 16;  // independent partial results: without -ffast-math the compiler
                                // may not reorder one sum or one maximum, but it may run lanes
constexpr size_t block_size = 256;

// exp(-x) for x >= 0 with a relative error below 3e-7; all beyond 87, and NaN, counts as 87
// (1.6e-38). x is n * ln 2 + r with |r| <= ln(2) / 2; then 2^-n times a polynomial in r (minimax,
// exact at 0). The bound is set on the bits, which are in the order of the numbers, because a
// comparison of floats would stop the vectorizer.
inline float exp_minus(float x) {
    constexpr float round_magic = 12582912.0f;  // 1.5 * 2^23: what is added to it gets rounded
    constexpr int32_t bits_of_87 = 0x42AE0000;
    x = std::bit_cast<float>(std::min(std::bit_cast<int32_t>(x) & INT32_MAX, bits_of_87));
    float shifted = round_magic - x * 1.44269504f;
    float minus_n = shifted - round_magic;
    float r = (x + minus_n * 0.693359375f) + minus_n * -2.12194440e-4f;  // ln 2 in two parts
    float p = -0.00829026382f;
    p = p * r + 0.0418981612f;
    p = p * r - 0.166676387f;
    p = p * r + 0.499991477f;
    p = p * r - 0.999999702f;
    p = p * r + 1.0f;
    float two_to_minus_n = std::bit_cast<float>((std::bit_cast<int32_t>(shifted) + 127) << 23);
    return p * two_to_minus_n;
}

float max_of_block(const float* x, size_t n) {
    float lanes[n_lanes];
    std::fill_n(lanes, n_lanes, minus_infinity);
    size_t i = 0;
    for (; i + n_lanes <= n; i += n_lanes) {
        for (size_t j = 0; j < n_lanes; j++) lanes[j] = x[i + j] > lanes[j] ? x[i + j] : lanes[j];
    }
    float best = minus_infinity;
    for (float lane : lanes) best = lane > best ? lane : best;
    for (; i < n; i++) best = x[i] > best ? x[i] : best;
    return best;
}

// Sum of exp((x - top) * scale); `top` is the largest.
float sum_exp_block(std::span<const float> x, float top, float scale) {
    float terms[block_size] = {};
    for (size_t i = 0; i < x.size(); i++) terms[i] = exp_minus((top - x[i]) * scale);
    float lanes[n_lanes] = {};
    for (size_t i = 0; i < block_size; i += n_lanes) {
        for (size_t j = 0; j < n_lanes; j++) lanes[j] += terms[i + j];
    }
    return std::accumulate(lanes, lanes + n_lanes, 0.0f);
}

template <class Visit>
void for_blocks(std::span<const float> values, Visit visit) {
    for (size_t i = 0; i < values.size(); i += block_size) {
        visit(i, values.subspan(i, std::min(block_size, values.size() - i)));
    }
}

double sum_exp(std::span<const float> values, float top) {
    double sum = 0;
    for_blocks(values, [&](size_t, auto block) {
        sum += static_cast<double>(sum_exp_block(block, top, 1.0f));
    });
    return sum;
}

}  // namespace

float max_of(std::span<const float> values) {
    return max_of_block(values.data(), values.size());
}

float log_sum_exp(std::span<const float> values) {
    float top = max_of(values);
    if (!std::isfinite(top)) return top;
    return static_cast<float>(static_cast<double>(top) + std::log(sum_exp(values, top)));
}

float probability_of(std::span<const float> logits, int id) {
    CHECK(id >= 0 && static_cast<size_t>(id) < logits.size());
    float logit = logits[static_cast<size_t>(id)];
    if (!(logit > minus_infinity)) return 0;
    return std::exp(logit - log_sum_exp(logits));
}

Picked pick_greedy(std::span<const float> logits) {
    CHECK(!logits.empty());
    float top = minus_infinity;
    size_t top_block = 0;
    for_blocks(logits, [&](size_t start, auto block) {
        float block_top = max_of_block(block.data(), block.size());
        if (block_top > top) top = block_top, top_block = start;
    });
    if (!std::isfinite(top)) return {0, minus_infinity};
    auto at = std::find(logits.begin() + static_cast<std::ptrdiff_t>(top_block), logits.end(), top);
    return {static_cast<int>(at - logits.begin()),
            static_cast<float>(-std::log(sum_exp(logits, top)))};
}

std::vector<Picked> pick_top(std::span<const float> logits, size_t n) {
    auto score = [&](int id) {
        float x = logits[static_cast<size_t>(id)];
        return x > minus_infinity ? x : minus_infinity;  // NaN
    };
    auto better = [&](int a, int b) {
        return score(a) > score(b) || (score(a) == score(b) && a < b);
    };
    std::vector<int> ids;  // a heap with the worst in front
    for_blocks(logits, [&](size_t start, auto block) {
        bool full = ids.size() == n;
        float worst = full ? score(ids[0]) : minus_infinity;
        if (full && max_of_block(block.data(), block.size()) <= worst) return;
        for (size_t i = start; i < start + block.size(); i++) {
            ids.push_back(static_cast<int>(i));
            std::push_heap(ids.begin(), ids.end(), better);
            if (ids.size() <= n) continue;
            std::pop_heap(ids.begin(), ids.end(), better);
            ids.pop_back();
        }
    });
    std::sort(ids.begin(), ids.end(), better);
    float sum = log_sum_exp(logits);
    std::vector<Picked> out;
    for (int id : ids) {
        bool possible = score(id) > minus_infinity && std::isfinite(sum);
        out.push_back({id, possible ? score(id) - sum : minus_infinity});
    }
    return out;
}

Picked pick_sampled(std::span<const float> logits, float temperature, std::mt19937& random) {
    Picked best = pick_greedy(logits);
    float top = logits[static_cast<size_t>(best.id)];
    if (!(temperature > 0) || !std::isfinite(top)) return best;
    float scale = 1 / temperature;
    std::vector<double> up_to;  // the weight of all blocks up to and with this one
    double total = 0;
    for_blocks(logits, [&](size_t, auto block) {
        up_to.push_back(total += static_cast<double>(sum_exp_block(block, top, scale)));
    });
    double target = std::generate_canonical<double, 53>(random) * total;
    auto b =
        static_cast<size_t>(std::upper_bound(up_to.begin(), up_to.end(), target) - up_to.begin());
    if (b == up_to.size()) return best;  // generate_canonical may round up to 1
    double rest = target - (b == 0 ? 0.0 : up_to[b - 1]);
    int id = best.id;
    for (size_t i = b * block_size; i < std::min((b + 1) * block_size, logits.size()); i++) {
        float distance = (top - logits[i]) * scale;
        if (!(distance < 87)) continue;
        id = static_cast<int>(i);  // the last one of the block takes what rounding leaves over
        rest -= static_cast<double>(exp_minus(distance));
        if (rest < 0) break;
    }
    return {id, best.logprob + (logits[static_cast<size_t>(id)] - top)};
}

}  // namespace transcribe
