// The search for the text of a window, in a made-up language: scores depend on the tokens so far.
// Golden values of the beam are the reference's, printed by tools/search_reference.py.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <set>

#include "decode/pick.h"
#include "decode/search.h"

namespace transcribe {
namespace {

constexpr int n_vocab = 17, eot = 16;
constexpr size_t n_steps_max = 12;

std::vector<float> scores(unsigned seed, std::span<const int> tokens) {
    std::uint64_t state = seed;
    for (int token : tokens) state = (state * 31 + static_cast<unsigned>(token) + 1) % 65521;
    std::vector<float> out;
    for (unsigned token = 0; token < n_vocab; token++) {
        std::uint64_t mixed = (state * (token + 7) * 2654435761u) % 4294967296u / 4194304;
        out.push_back(static_cast<float>(mixed) / 64 * 0.25f);
    }
    return out;
}

// No text is empty.
class NotEmpty : public LogitRule {
  public:
    void apply(std::span<const int> sampled, std::span<float> logits) const override {
        if (sampled.empty()) logits[eot] = -std::numeric_limits<float>::infinity();
    }
};

// Plays the part of the decoder: a row's past is what it was fed and what was copied to it.
std::vector<Hypothesis> find_all(const SearchSpec& spec, unsigned seed) {
    NotEmpty rule;
    auto search = make_search(spec, rule);
    std::vector<std::vector<int>> past(static_cast<size_t>(spec.n_rows), spec.forced);
    std::vector<float> logits = scores(seed, spec.forced);
    search->take(logits);
    while (!search->done()) {
        for (auto [from, to] : search->copies()) {
            past[static_cast<size_t>(to)] = past[static_cast<size_t>(from)];
        }
        logits.clear();
        for (int row = 0; row < spec.n_rows; row++) {
            std::vector<int>& own = past[static_cast<size_t>(row)];
            if (!search->ended(row)) own.push_back(search->next(row));
            std::vector<float> next = scores(seed, own);
            logits.insert(logits.end(), next.begin(), next.end());
        }
        search->take(logits);
    }
    return search->texts();
}

Hypothesis find(const SearchSpec& spec, unsigned seed) {
    return find_all(spec, seed).at(0);
}

SearchSpec spec(int n_rows) {
    SearchSpec s;
    s.eot = eot;
    s.n_tokens_max = n_steps_max;
    s.n_rows = n_rows;
    return s;
}

struct Case {
    unsigned seed;
    int n_rows;
    float patience;
    std::optional<float> penalty;
    std::vector<int> tokens;
    float sum;
};

TEST(Search, BeamIsTheReferences) {
    const Case cases[] = {
        {1, 2, 1.0f, {}, {14, 2}, -5.0054f},
        {2, 5, 1.0f, {}, {14, 15, 15, 3, 15, 12, 15, 13, 1, 7, 4, 10}, -18.8311f},
        {3, 5, 2.0f, {}, {0, 14, 11, 5, 6, 5, 2, 6, 12, 11}, -17.9052f},
        {4, 5, 1.0f, 1.0f, {12, 12}, -4.8926f},
        {5, 3, 0.4f, 0.0f, {4, 2}, -4.9275f},
        {6, 8, 1.0f, {}, {0, 12, 11, 11, 11, 3, 6, 5, 9, 9, 6, 13}, -18.8688f},
    };
    for (const Case& c : cases) {
        SearchSpec s = spec(c.n_rows);
        s.patience = c.patience;
        s.length_penalty = c.penalty;
        Hypothesis best = find(s, c.seed);
        EXPECT_EQ(best.tokens, c.tokens) << c.seed;
        EXPECT_NEAR(best.sum_logprob, c.sum, 2e-4) << c.seed;
        EXPECT_EQ(best.logprobs.size(), best.tokens.size());
    }
}

TEST(Search, GreedyTakesTheLikeliestAndEndsAtTheLimit) {
    Hypothesis best = find(spec(1), 2);
    std::vector<int> by_hand;
    float sum = 0;
    NotEmpty rule;
    while (by_hand.size() < n_steps_max) {
        std::vector<float> logits = scores(2, by_hand);
        rule.apply(by_hand, logits);
        Picked picked = pick_greedy(logits);
        sum += picked.logprob;
        if (picked.id == eot) break;
        by_hand.push_back(picked.id);
    }
    EXPECT_EQ(best.tokens, by_hand);
    EXPECT_NEAR(best.sum_logprob, sum, 1e-5);
}

TEST(Search, DrawsTheSameFromTheSameSeed) {
    SearchSpec s = spec(5);
    s.temperature = 0.8f;
    Hypothesis first = find(s, 3);
    EXPECT_EQ(find(s, 3).tokens, first.tokens);
    std::set<std::vector<int>> texts;
    for (s.seed = 0; s.seed < 20; s.seed++) {
        for (const Hypothesis& text : find_all(s, 3)) texts.insert(text.tokens);
    }
    EXPECT_GT(texts.size(), 3u);
}

TEST(Search, ALoopIsEndedWhereThatIsWanted) {
    class Parrot : public LogitRule {
        void apply(std::span<const int> sampled, std::span<float> logits) const override {
            std::fill(logits.begin(), logits.end(), 0.0f);
            logits[sampled.size() < 3 ? sampled.size() + 5 : 1 + sampled.size() % 2] = 9;
        }
    } rule;
    for (bool ends_loops : {false, true}) {
        SearchSpec s = spec(1);
        s.n_tokens_max = 100;
        s.ends_loops = ends_loops;
        auto search = make_search(s, rule);
        std::vector<float> logits(n_vocab);
        while (!search->done()) search->take(logits);
        EXPECT_EQ(search->texts()[0].looping, ends_loops);
        EXPECT_EQ(search->texts()[0].tokens.size(), ends_loops ? 3 + 32 : 100);
    }
    std::vector<int> ha(31, 4);
    EXPECT_FALSE(is_looping(ha));
    ha.push_back(4);
    EXPECT_TRUE(is_looping(ha));
    ha.push_back(5);
    EXPECT_FALSE(is_looping(ha));
}

TEST(Search, WhatALoopRepeatsIsSaidOnce) {
    std::vector<int> tokens{7, 8, 4, 5, 6};
    EXPECT_EQ(n_without_loop(tokens), tokens.size());
    for (int i = 0; i < 40; i++) tokens.push_back(4 + i % 3);
    EXPECT_EQ(n_without_loop(tokens), 5u);
    EXPECT_EQ(n_without_loop(std::vector<int>(50, 3)), 1u);
}

TEST(Search, ForcedTokensComeFirstAndDoNotCount) {
    for (int n_rows : {1, 4}) {
        SearchSpec s = spec(n_rows);
        s.forced = {7, 7, 3};
        Hypothesis best = find(s, 9);
        ASSERT_GE(best.tokens.size(), 3u);
        EXPECT_EQ(std::vector<int>(best.tokens.begin(), best.tokens.begin() + 3), s.forced);
        EXPECT_LE(best.tokens.size(), 3 + n_steps_max);
        EXPECT_EQ(best.logprobs[2], 0);
        float sum = 0;
        for (float logprob : best.logprobs) sum += logprob;
        EXPECT_LE(best.sum_logprob, sum + 1e-4f);  // end-of-text may be in it
    }
}

TEST(Search, TopIsSortedAndSurvivesWhatIsNoNumber) {
    constexpr float inf = std::numeric_limits<float>::infinity();
    std::vector<float> logits(1000, -3.0f);
    logits[999] = 1, logits[5] = 2, logits[700] = 1;
    logits[6] = std::numeric_limits<float>::quiet_NaN(), logits[7] = -inf;
    std::vector<int> ids;
    for (Picked p : pick_top(logits, 4)) ids.push_back(p.id);
    EXPECT_EQ(ids, (std::vector<int>{5, 700, 999, 0}));
    EXPECT_NEAR(pick_top(logits, 1)[0].logprob, 2 - log_sum_exp(logits), 1e-5);
    std::vector<float> none(3, -inf);
    EXPECT_EQ(pick_top(none, 2).size(), 2u);
    EXPECT_EQ(pick_top(none, 2)[0].logprob, -inf);
    EXPECT_EQ(pick_top(none, 9).size(), 3u);
}

}  // namespace
}  // namespace transcribe
