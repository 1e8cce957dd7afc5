#include "nn/step.h"

#include <algorithm>

#include "base/check.h"

namespace transcribe {

StepInputs StepInputs::declare(Graph& g, const StepShape& shape) {
    i64 n = shape.n_tokens, n_rows = shape.n_rows;
    StepInputs in;
    in.shape = shape;
    in.ids = g.input("step.ids", Dtype::i32, {n * n_rows});
    in.pos = g.input("step.pos", Dtype::i32, {n * n_rows});
    in.slots = g.input("step.slots", Dtype::i64, {n, n_rows});
    in.mask = g.input("step.mask", Dtype::f16, {shape.n_slots, n, 1, n_rows});
    in.picks = g.input("step.picks", Dtype::i32, {shape.n_picks});
    return in;
}

void StepFeed::begin(int row, int n_held) {
    len_[static_cast<size_t>(row)] = n_held;
    live_[static_cast<size_t>(row)] = true;
}

void StepFeed::set(const StepShape& shape, std::span<const std::vector<int>> tokens, int pad_id) {
    constexpr std::uint16_t minus_infinity = 0xFC00;  // in F16
    n_tokens_ = shape.n_tokens;
    auto n = static_cast<size_t>(shape.n_tokens), n_slots = static_cast<size_t>(shape.n_slots);
    auto n_rows = static_cast<size_t>(shape.n_rows);
    CHECK(tokens.size() == n_rows && n_rows <= len_.size());
    ids_.clear(), pos_.clear(), slots_.clear(), picks_.clear(), added_.clear();
    mask_.assign(n_slots * n * n_rows, minus_infinity);
    for (size_t row = 0; row < n_rows; row++) {
        CHECK(tokens[row].size() <= n && !tokens[row].empty());
        size_t held = live_[row] ? static_cast<size_t>(len_[row]) : 0;
        CHECK(held + n <= n_slots);
        for (size_t i = 0; i < n; i++) {
            size_t slot = held + i;
            ids_.push_back(i < tokens[row].size() ? tokens[row][i] : pad_id);
            pos_.push_back(static_cast<std::int32_t>(slot));
            slots_.push_back(static_cast<i64>(slot));
            std::fill_n(&mask_[(row * n + i) * n_slots], slot + 1, std::uint16_t{0});
        }
        picks_.push_back(static_cast<std::int32_t>(row * n + tokens[row].size() - 1));
        added_.push_back(static_cast<int>(tokens[row].size()));
    }
}

void StepFeed::pick(int row, int token) {
    picks_.push_back(row * n_tokens_ + token);
}

void StepFeed::advance() {
    for (size_t row = 0; row < added_.size(); row++) len_[row] += live_[row] ? added_[row] : 0;
}

int StepFeed::longest() const {
    int longest = 0;
    for (size_t row = 0; row < len_.size(); row++) {
        if (live_[row]) longest = std::max(longest, len_[row]);
    }
    return longest;
}

Status StepFeed::run(Compute& compute, const StepInputs& in,
                     std::initializer_list<Feed> more) const {
    std::vector<Feed> feeds{
        {in.ids, ids_}, {in.pos, pos_}, {in.slots, slots_}, {in.mask, mask_}, {in.picks, picks_}};
    feeds.insert(feeds.end(), more);
    return compute.run(feeds);
}

}  // namespace transcribe
