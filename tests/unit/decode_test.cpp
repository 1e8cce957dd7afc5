// decode/: the arithmetic of picking tokens against the same in double, and the numbers of quality.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "decode/pick.h"
#include "decode/quality.h"

namespace transcribe {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> random_scores(size_t n, float deviation, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, deviation);
    std::vector<float> scores(n);
    for (float& x : scores) x = random() % 7 == 0 ? -inf : normal(random);
    return scores;
}

double exact_log_sum_exp(const std::vector<float>& scores) {
    double top = -std::numeric_limits<double>::infinity(), sum = 0;
    for (float x : scores) top = std::max(top, static_cast<double>(x));
    for (float x : scores) sum += std::exp(static_cast<double>(x) - top);
    return top + std::log(sum);
}

TEST(Pick, LogSumExpIsExact) {
    for (size_t n : {1u, 15u, 16u, 17u, 255u, 256u, 257u, 1501u, 51864u}) {
        for (float deviation : {0.01f, 1.0f, 5.0f, 50.0f}) {
            auto scores = random_scores(n, deviation, static_cast<unsigned>(n));
            scores[n / 2] = deviation;
            EXPECT_NEAR(log_sum_exp(scores), exact_log_sum_exp(scores), 1e-6 * (1 + 20 * deviation))
                << n;
        }
    }
}

TEST(Pick, EachTermHasARelativeErrorBelowOneMillionth) {
    for (double x = -86.9; x < 0; x += 0.0137) {
        std::vector<float> scores = {0.0f, static_cast<float>(x)};
        double term = std::exp(static_cast<double>(scores[1]));
        double exact = std::log1p(term);
        EXPECT_NEAR(log_sum_exp(scores), exact, 2e-7 * (1 + exact)) << x;
        EXPECT_NEAR(probability_of(scores, 1) * (1 + term) / term, 1.0, 1e-6) << x;
    }
    // Equal terms beside one that decides the scale: their sum shows the error of each.
    for (double x = -12; x < 0; x += 0.137) {
        std::vector<float> scores(100001, static_cast<float>(x));
        scores[0] = 0;
        double sum = 1 + 1e5 * std::exp(static_cast<double>(scores[1]));
        EXPECT_NEAR(log_sum_exp(scores), std::log(sum), 1.5e-6) << x;
    }
}

TEST(Pick, MasksAndNaN) {
    EXPECT_EQ(log_sum_exp({}), -inf);
    std::vector<float> scores = {-inf, -inf, -inf};
    EXPECT_EQ(log_sum_exp(scores), -inf);
    EXPECT_EQ(max_of(scores), -inf);
    EXPECT_EQ(pick_greedy(scores).id, 0);
    EXPECT_EQ(pick_greedy(scores).logprob, -inf);
    EXPECT_EQ(probability_of(scores, 1), 0.0f);
    scores = {nan, 1.0f, -inf, 1.0f};
    EXPECT_EQ(pick_greedy(scores).id, 1);
    EXPECT_NEAR(pick_greedy(scores).logprob, -std::log(2.0f), 1e-6);
    EXPECT_EQ(probability_of(scores, 0), 0.0f);
    EXPECT_EQ(probability_of(scores, 2), 0.0f);
    std::mt19937 random(1);
    for (int i = 0; i < 1000; i++) EXPECT_EQ(pick_sampled(scores, 1.0f, random).id % 2, 1);
    scores = {0.0f, inf, nan};
    EXPECT_EQ(pick_greedy(scores).id,
              1 - 1);  // not a distribution: the first, without a probability
    EXPECT_EQ(pick_greedy(scores).logprob, -inf);
}

TEST(Pick, GreedyTakesTheFirstOfEquals) {
    std::vector<float> scores(1000, 0.5f);
    EXPECT_EQ(pick_greedy(scores).id, 0);
    scores[700] = scores[701] = scores[999] = 2.0f;
    EXPECT_EQ(pick_greedy(scores).id, 700);
    EXPECT_NEAR(pick_greedy(scores).logprob, 2.0 - exact_log_sum_exp(scores), 1e-6);
}

TEST(Pick, GreedyAgreesWithAPlainSearch) {
    for (unsigned seed = 0; seed < 50; seed++) {
        auto scores = random_scores(3000 + seed, 3.0f, seed);
        auto best = std::max_element(scores.begin(), scores.end());
        Picked picked = pick_greedy(scores);
        EXPECT_EQ(picked.id, best - scores.begin());
        EXPECT_NEAR(picked.logprob, static_cast<double>(*best) - exact_log_sum_exp(scores), 1e-6);
    }
}

TEST(Pick, SamplesFollowTheTemperedDistribution) {
    std::vector<float> scores(600, -inf);
    scores[3] = 1.0f, scores[255] = 0.0f, scores[256] = 2.0f, scores[599] = -1.0f;
    constexpr float temperature = 0.5f;
    constexpr int n = 40000;
    double total = 0;
    for (float x : scores) total += std::exp(static_cast<double>(x / temperature));
    std::mt19937 random(7);
    std::vector<int> counts(scores.size());
    for (int i = 0; i < n; i++) {
        Picked picked = pick_sampled(scores, temperature, random);
        auto id = static_cast<size_t>(picked.id);
        counts[id]++;
        ASSERT_NEAR(picked.logprob, static_cast<double>(scores[id]) - exact_log_sum_exp(scores),
                    1e-6);
    }
    for (size_t id = 0; id < scores.size(); id++) {
        double p = std::exp(static_cast<double>(scores[id] / temperature)) / total;
        EXPECT_NEAR(counts[id], n * p, 5 * std::sqrt(n * p * (1 - p)) + 1e-9) << id;
    }
}

TEST(Pick, SamplingIsRepeatableAndColdIsGreedy) {
    auto scores = random_scores(5000, 2.0f, 3);
    std::mt19937 a(9), b(9);
    for (int i = 0; i < 100; i++)
        EXPECT_EQ(pick_sampled(scores, 1.0f, a).id, pick_sampled(scores, 1.0f, b).id);
    for (float temperature : {0.0f, -1.0f, nan, 1e-30f}) {
        EXPECT_EQ(pick_sampled(scores, temperature, a).id, pick_greedy(scores).id) << temperature;
    }
}

// len(t) / len(zlib.compress(t)) in Python.
TEST(Quality, CompressionRatio) {
    EXPECT_EQ(compression_ratio(""), 0.0f);
    EXPECT_FLOAT_EQ(compression_ratio("a"), 1.0f / 9);
    EXPECT_FLOAT_EQ(compression_ratio("Hello, world."), 13.0f / 21);
    std::string loop;
    for (int i = 0; i < 50; i++) loop += "thank you ";
    EXPECT_FLOAT_EQ(compression_ratio(loop), 500.0f / 23);
}

TEST(Quality, LongestCommonRun) {
    const std::vector<int> a{1, 2, 3, 4, 5}, b{9, 3, 4, 5, 1, 2};
    EXPECT_EQ(longest_common_run(a, b), 3u);
    EXPECT_EQ(longest_common_run(b, a), 3u);
    EXPECT_EQ(longest_common_run(a, a), 5u);
    EXPECT_EQ(longest_common_run(a, {}), 0u);
    EXPECT_EQ(longest_common_run({}, b), 0u);
}

TEST(Quality, MeanLogprobCountsTheEndOfText) {
    EXPECT_FLOAT_EQ(mean_logprob(-3.0, 2), -1.0f);
    EXPECT_FLOAT_EQ(mean_logprob(-0.5, 0), -0.5f);
}

}  // namespace
}  // namespace transcribe
