#include "decode/search.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "base/check.h"
#include "decode/pick.h"

namespace transcribe {

namespace {

Hypothesis begin(const SearchSpec& spec) {
    return {spec.forced, std::vector<float>(spec.forced.size(), 0.0f), 0};
}

void say(Hypothesis& text, Picked picked, int eot) {
    text.sum_logprob += picked.logprob;
    if (picked.id == eot) return;
    text.tokens.push_back(picked.id);
    text.logprobs.push_back(picked.logprob);
}

// The first of those with the highest score: log probability over length, or over Google's
// ((5 + length) / 6)^penalty.
Hypothesis ranked_first(const std::vector<Hypothesis>& texts, std::optional<float> penalty) {
    auto score = [&](const Hypothesis& text) {
        auto length = static_cast<float>(std::max<size_t>(text.tokens.size(), 1));
        float over = penalty ? std::pow((5 + length) / 6, *penalty) : length;
        return text.sum_logprob / over;
    };
    size_t best = 0;
    for (size_t i = 1; i < texts.size(); i++) {
        if (score(texts[i]) > score(texts[best])) best = i;
    }
    return texts[best];
}

// Every row for itself: the likeliest token, or one drawn.
class SampleSearch final : public Search {
  public:
    SampleSearch(const SearchSpec& spec, const LogitRule& rule)
        : Search(spec.n_rows),
          spec_(spec),
          rule_(rule),
          random_(spec.seed),
          texts_(next_.size(), begin(spec)),
          ended_(next_.size(), false) {}

    void take(std::span<float> logits) override {
        bool alike = first_;
        first_ = false;
        size_t n_vocab = alike ? logits.size() : logits.size() / texts_.size();
        if (alike) rule_.apply(texts_[0].tokens, logits);
        for (size_t row = 0; row < texts_.size(); row++) {
            if (ended_[row]) continue;
            std::span<float> own = alike ? logits : logits.subspan(row * n_vocab, n_vocab);
            if (!alike) rule_.apply(texts_[row].tokens, own);
            Picked picked = spec_.temperature > 0 ? pick_sampled(own, spec_.temperature, random_)
                                                  : pick_greedy(own);
            say(texts_[row], picked, spec_.eot);
            next_[row] = picked.id;
            size_t n = texts_[row].tokens.size() - spec_.forced.size();
            texts_[row].looping = spec_.ends_loops && is_looping(texts_[row].tokens);
            ended_[row] = picked.id == spec_.eot || n >= spec_.n_tokens_max || texts_[row].looping;
        }
    }
    bool done() const override {
        return std::find(ended_.begin(), ended_.end(), false) == ended_.end();
    }
    bool ended(int row) const override { return ended_[static_cast<size_t>(row)]; }
    std::vector<Hypothesis> texts() const override { return texts_; }

  private:
    SearchSpec spec_;
    const LogitRule& rule_;
    std::mt19937 random_;
    std::vector<Hypothesis> texts_;
    std::vector<bool> ended_;
    bool first_ = true;
};

class BeamSearch final : public Search {
  public:
    BeamSearch(const SearchSpec& spec, const LogitRule& rule)
        : Search(spec.n_rows), spec_(spec), rule_(rule) {
        for (int row = 0; row < spec.n_rows; row++) beams_.push_back({begin(spec), row});
        float n = std::nearbyint(static_cast<float>(spec.n_rows) * spec.patience);
        n_finished_max_ = static_cast<size_t>(std::max(1.0f, n));
    }

    void take(std::span<float> logits) override {
        keep(candidates(logits));
        n_steps_++;
    }
    bool done() const override {
        return finished_.size() >= n_finished_max_ || n_steps_ >= spec_.n_tokens_max;
    }
    bool ended(int) const override { return false; }
    std::vector<Hypothesis> texts() const override;

  private:
    struct Beam {
        Hypothesis text;
        int row;  // where its past lies
    };
    struct Candidate {
        size_t parent;  // among beams_
        Picked picked;
        float sum;
    };
    std::vector<Candidate> candidates(std::span<float> logits);
    void keep(const std::vector<Candidate>& candidates);
    void place(std::vector<Beam>& beams);

    SearchSpec spec_;
    const LogitRule& rule_;
    std::vector<Beam> beams_;  // in the reference's order, which decides between equals
    std::vector<Hypothesis> finished_;
    size_t n_finished_max_, n_steps_ = 0;
};

// One more candidate than rows from each beam, so that an ended one leaves enough; best first.
std::vector<BeamSearch::Candidate> BeamSearch::candidates(std::span<float> logits) {
    bool alike = n_steps_ == 0;
    size_t n_vocab = alike ? logits.size() : logits.size() / beams_.size();
    std::vector<Candidate> all;
    for (size_t i = 0; i < (alike ? 1 : beams_.size()); i++) {
        const Beam& beam = beams_[i];
        size_t at = alike ? 0 : static_cast<size_t>(beam.row) * n_vocab;
        std::span<float> own = logits.subspan(at, n_vocab);
        rule_.apply(beam.text.tokens, own);
        for (Picked picked : pick_top(own, beams_.size() + 1)) {
            all.push_back({i, picked, beam.text.sum_logprob + picked.logprob});
        }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Candidate& a, const Candidate& b) { return a.sum > b.sum; });
    return all;
}

void BeamSearch::keep(const std::vector<Candidate>& candidates) {
    std::vector<Beam> kept;
    for (const Candidate& c : candidates) {
        if (kept.size() == beams_.size()) break;
        bool ends = c.picked.id == spec_.eot;
        if (ends && finished_.size() >= n_finished_max_) continue;
        Beam beam = beams_[c.parent];
        say(beam.text, c.picked, spec_.eot);
        if (ends) {
            finished_.push_back(std::move(beam.text));
        } else {
            kept.push_back(std::move(beam));
        }
    }
    CHECK(kept.size() == beams_.size());
    place(kept);
    beams_ = std::move(kept);
}

// The first child of a row stays in it; the others go to rows that have no child.
void BeamSearch::place(std::vector<Beam>& beams) {
    std::vector<bool> taken(beams.size(), false);
    std::vector<Beam*> moving;
    for (Beam& beam : beams) {
        auto row = static_cast<size_t>(beam.row);
        if (taken[row]) moving.push_back(&beam);
        taken[row] = true;
    }
    copies_.clear();
    for (Beam* beam : moving) {
        auto free =
            static_cast<size_t>(std::find(taken.begin(), taken.end(), false) - taken.begin());
        taken[free] = true;
        copies_.emplace_back(beam->row, static_cast<int>(free));
        beam->row = static_cast<int>(free);
    }
    for (const Beam& beam : beams) next_[static_cast<size_t>(beam.row)] = beam.text.tokens.back();
}

// Where too few texts came to their end, the best unfinished ones compete with them.
std::vector<Hypothesis> BeamSearch::texts() const {
    std::vector<Hypothesis> texts = finished_;
    std::vector<size_t> order(beams_.size());
    std::iota(order.rbegin(), order.rend(), 0);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return beams_[a].text.sum_logprob > beams_[b].text.sum_logprob;
    });
    for (size_t i = 0; i < order.size() && texts.size() < beams_.size(); i++) {
        texts.push_back(beams_[order[i]].text);
    }
    return {ranked_first(texts, spec_.length_penalty)};
}

// Of how many tokens a loop at the end is; 0: there is none.
size_t loop_period(std::span<const int> tokens) {
    constexpr size_t n_repeats_min = 8, n_tokens_min = 32, period_max = 16;
    for (size_t period = 1; period <= period_max; period++) {
        size_t n = std::max(n_tokens_min, period * n_repeats_min);
        if (tokens.size() < n) continue;
        std::span<const int> tail = tokens.last(n);
        if (std::equal(tail.begin() + static_cast<long>(period), tail.end(), tail.begin())) {
            return period;
        }
    }
    return 0;
}

}  // namespace

bool is_looping(std::span<const int> tokens) {
    return loop_period(tokens) > 0;
}

size_t n_without_loop(std::span<const int> tokens) {
    const size_t period = loop_period(tokens);
    if (period == 0) return tokens.size();
    size_t n = tokens.size();
    while (n > period && tokens[n - 1] == tokens[n - 1 - period]) n--;
    return n;
}

std::unique_ptr<Search> make_search(const SearchSpec& spec, const LogitRule& rule) {
    CHECK(spec.n_rows >= 1 && spec.n_tokens_max >= 1);
    bool beam = spec.temperature <= 0 && spec.n_rows > 1;
    if (beam) return std::make_unique<BeamSearch>(spec, rule);
    return std::make_unique<SampleSearch>(spec, rule);
}

}  // namespace transcribe
