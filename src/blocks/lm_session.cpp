#include "blocks/lm_session.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/check.h"

namespace transcribe {

namespace {

constexpr int n_slots_step = 256;  // of what attention looks at
constexpr int n_ctx_min = 512;     // of the cache

// Where each of the n_tokens * n_rows rows of the input comes from: the token itself, or one of the
// others, which stand behind all tokens, prompt after prompt.
std::vector<std::int32_t> sources(std::span<const LmPrompt> prompts, size_t n_tokens, size_t d) {
    std::vector<std::int32_t> from(n_tokens * prompts.size());
    for (size_t i = 0; i < from.size(); i++) from[i] = static_cast<std::int32_t>(i);
    size_t at = from.size();
    for (size_t row = 0; row < prompts.size(); row++) {
        size_t first = row * n_tokens + prompts[row].others_at;
        for (size_t i = 0; i < prompts[row].others.size() / d; i++) {
            from[first + i] = static_cast<std::int32_t>(at++);
        }
    }
    return from;
}

std::vector<float> joined(std::span<const LmPrompt> prompts) {
    std::vector<float> all;
    for (const LmPrompt& p : prompts) all.insert(all.end(), p.others.begin(), p.others.end());
    return all;
}

int longest(std::span<const LmPrompt> prompts) {
    size_t n = 0;
    for (const LmPrompt& prompt : prompts) n = std::max(n, prompt.ids.size());
    return static_cast<int>(n);
}

}  // namespace

size_t LmSession::cache_bytes_max(const CausalLmSpec& spec, int n_ctx_max, Dtype dtype,
                                  int n_rows) {
    return 2 * static_cast<size_t>(spec.n_layers) * row_bytes(dtype, spec.d_kv()) *
           static_cast<size_t>(n_ctx_max) * static_cast<size_t>(n_rows);
}

Status LmSession::make_room(int n_rows, int n_held, int n_wanted) {
    CHECK(n_wanted <= n_ctx_max_);
    int n_ctx = static_cast<int>(std::bit_ceil(static_cast<unsigned>(n_wanted)));
    n_ctx = std::min(std::max(n_ctx, n_ctx_min), n_ctx_max_);
    bool fits = cache_ && cache_->sizes().n_ctx >= n_wanted;
    if (fits && (n_held == 0 ? cache_->sizes().n_rows >= n_rows : true)) return {};
    in_step_ = false;
    if (n_held > 0) {
        TRY_SET(cache_, cache_->resized(compute_, n_ctx, n_held));
        return {};
    }
    cache_.reset();  // before the new one is there
    TRY_SET(cache_,
            KvCache::make(compute_, {lm_.spec.n_layers, lm_.spec.d_kv(), n_ctx, n_rows, dtype_}));
    return {};
}

Expected<std::span<float>> LmSession::prefill(std::span<const LmPrompt> prompts) {
    const int n_rows = static_cast<int>(prompts.size()), n = longest(prompts);
    TRY(make_room(n_rows, 0, n));
    in_step_ = false;
    feed_ = StepFeed(n_rows);
    for (int row = 0; row < n_rows; row++) feed_.begin(row, 0);
    std::vector<std::vector<int>> tokens;
    for (const LmPrompt& prompt : prompts) tokens.push_back(prompt.ids);
    const StepShape shape{n, n_rows, n, n_rows};
    feed_.set(shape, tokens, 0);

    const auto d = static_cast<size_t>(lm_.spec.d);
    const std::vector<float> others = joined(prompts);
    const std::vector<std::int32_t> from = sources(prompts, static_cast<size_t>(n), d);
    Graph& g = compute_.begin();
    g.rounding = compute_.rounding;
    StepInputs in = StepInputs::declare(g, shape);
    Tensor x = lm_.embed(in.ids);
    if (others.empty()) {
        logits_ = g.keep(lm_(x, in, *cache_, {0, n_rows}));
        TRY(feed_.run(compute_, in));
    } else {
        Tensor stand_ins = g.input("others", Dtype::f32, {lm_.spec.d, i64(others.size() / d)});
        Tensor order = g.input("from", Dtype::i32, {i64(from.size())});
        x = g.tap(splice(x, stand_ins, order), "dec.in");
        logits_ = g.keep(lm_(x, in, *cache_, {0, n_rows}));
        TRY(feed_.run(compute_, in, {{stand_ins, others}, {order, from}}));
    }
    feed_.advance();
    return compute_.values(logits_);
}

Expected<std::span<float>> LmSession::step(std::span<const int> ids) {
    const int n_rows = static_cast<int>(ids.size()), n_held = feed_.longest();
    TRY(make_room(n_rows, n_held, n_held + 1));
    if (!in_step_ || in_.shape.n_slots <= n_held) {
        int n_slots = std::min((n_held / n_slots_step + 1) * n_slots_step, cache_->sizes().n_ctx);
        Graph& g = compute_.begin();
        in_ = StepInputs::declare(g, {1, n_rows, n_slots, n_rows});
        logits_ = g.keep(lm_(lm_.embed(in_.ids), in_, *cache_, {0, n_rows}));
        in_step_ = true;
    }
    std::vector<std::vector<int>> tokens;
    for (int id : ids) tokens.push_back({id});
    feed_.set(in_.shape, tokens, 0);
    TRY(feed_.run(compute_, in_));
    feed_.advance();
    return compute_.values(logits_);
}

}  // namespace transcribe
