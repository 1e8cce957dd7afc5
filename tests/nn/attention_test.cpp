// Attention against naive loops in double, on both of its paths, and the one path of prompt and
// step.
#include "nn/attention.h"

#include <cmath>
#include <limits>
#include <map>
#include <span>

#include <fmt/format.h>

#include "nn.h"

namespace transcribe::test {

namespace {

struct Sizes {
    int n_heads, n_kv_heads;
    i64 dh, n, n_slots, n_batch;  // n queries a batch row
    i64 d() const { return dh * n_heads; }
    i64 d_kv() const { return dh * n_kv_heads; }
};

// mask [S, T, B]: whether a query sees a slot
std::vector<double> sdpa_of(const std::vector<float>& q, const std::vector<float>& k,
                            const std::vector<float>& v, const std::vector<bool>& sees, Sizes s) {
    std::vector<double> out(q.size(), 0.0);
    auto scale = 1.0 / std::sqrt(static_cast<double>(s.dh));
    for (i64 row = 0; row < s.n_batch * s.n; row++) {
        i64 b = row / s.n;
        for (i64 h = 0; h < s.n_heads; h++) {
            i64 kv_head = h / (s.n_heads / s.n_kv_heads), q_at = row * s.d() + h * s.dh;
            auto kv_at = [&](i64 slot) {
                return (b * s.n_slots + slot) * s.d_kv() + kv_head * s.dh;
            };
            std::vector<double> p(static_cast<size_t>(s.n_slots), 0.0);
            double sum = 0;
            for (i64 slot = 0; slot < s.n_slots; slot++) {
                if (!sees[static_cast<size_t>(row * s.n_slots + slot)]) continue;
                double score = 0;
                for (i64 i = 0; i < s.dh; i++) {
                    score += static_cast<double>(q[static_cast<size_t>(q_at + i)]) *
                             k[static_cast<size_t>(kv_at(slot) + i)];
                }
                sum += p[static_cast<size_t>(slot)] = std::exp(score * scale);
            }
            for (i64 slot = 0; slot < s.n_slots; slot++) {
                for (i64 i = 0; i < s.dh; i++) {
                    out[static_cast<size_t>(q_at + i)] += p[static_cast<size_t>(slot)] / sum *
                                                          v[static_cast<size_t>(kv_at(slot) + i)];
                }
            }
        }
    }
    return out;
}

// Every slot up to one that differs by query and batch row.
std::vector<bool> causal(Sizes s) {
    std::vector<bool> sees;
    for (i64 row = 0; row < s.n_batch * s.n; row++) {
        i64 last = s.n_slots - s.n + row % s.n - 3 * (row / s.n);
        for (i64 slot = 0; slot < s.n_slots; slot++) sees.push_back(slot <= last);
    }
    return sees;
}

double sdpa_error(Machine& m, Sizes s, Dtype dtype, bool masked) {
    i64 n_kv = s.d_kv() * s.n_slots * s.n_batch;
    std::vector<float> q = random_values(s.d() * s.n * s.n_batch, 1);
    std::vector<float> k = random_values(n_kv, 2), v = random_values(n_kv, 3), bias;
    std::vector<bool> sees(static_cast<size_t>(s.n_slots * s.n * s.n_batch), true);
    if (masked) sees = causal(s);
    for (bool see : sees) bias.push_back(see ? 0 : -std::numeric_limits<float>::infinity());
    std::vector<std::byte> raw_k = stored_as(dtype, k, s.d_kv());
    std::vector<std::byte> raw_v = stored_as(dtype, v, s.d_kv());
    std::vector<std::byte> raw_bias = stored_as(Dtype::f16, bias, s.n_slots);
    Graph& g = m.compute->begin();
    Tensor qt = g.input("q", Dtype::f32, {s.d(), s.n, s.n_batch});
    Tensor kt = g.input("k", dtype, {s.d_kv(), s.n_slots, s.n_batch});
    Tensor vt = g.input("v", dtype, {s.d_kv(), s.n_slots, s.n_batch});
    Tensor mask = g.input("mask", Dtype::f16, {s.n_slots, s.n, 1, s.n_batch});
    Tensor y = g.keep(sdpa(qt, {kt, vt}, masked ? mask : Tensor{}, s.n_heads));
    std::vector<double> expected =
        sdpa_of(q, rounded_to(dtype, k, s.d_kv()), rounded_to(dtype, v, s.d_kv()), sees, s);
    return nmse(masked ? m.run(y, {{qt, q}, {kt, raw_k}, {vt, raw_v}, {mask, raw_bias}})
                       : m.run(y, {{qt, q}, {kt, raw_k}, {vt, raw_v}}),
                expected);
}

struct SdpaCase {
    bool flash;
    Dtype dtype;
    double nmse_max;  // F16 keys round the queries too, and ggml sums F16 values in F16
};
class Sdpa : public ::testing::TestWithParam<SdpaCase> {};

TEST_P(Sdpa, IsTheLoop) {
    SdpaCase c = GetParam();
    Machine m;
    m.compute->flash = c.flash;
    double worst = 0;
    for (i64 n : {1, 5, 40}) {
        for (i64 n_batch : {1, 3}) {
            for (int n_kv_heads : {6, 2}) {
                for (bool masked : {false, true}) {
                    double error =
                        sdpa_error(m, {6, n_kv_heads, 32, n, 64, n_batch}, c.dtype, masked);
                    EXPECT_LE(error, c.nmse_max) << "T " << n << ", B " << n_batch << ", kv heads "
                                                 << n_kv_heads << (masked ? ", masked" : "");
                    worst = std::max(worst, error);
                }
            }
        }
    }
    RecordProperty("worst", fmt::format("{:.1e}", worst));
}

INSTANTIATE_TEST_SUITE_P(Paths, Sdpa,
                         ::testing::Values(SdpaCase{true, Dtype::f32, 1e-11},
                                           SdpaCase{false, Dtype::f32, 1e-11},
                                           SdpaCase{true, Dtype::f16, 3e-6},
                                           SdpaCase{false, Dtype::f16, 1e-6}));

// One layer of attention over its own cache, fed as a decoder is.
class OverCache : public ::testing::Test {
  protected:
    static constexpr i64 d = 24, n_vocab = 30, n_ctx = 16;
    static constexpr int n_heads = 3;
    // Two rows of unequal length.
    const std::vector<std::vector<int>> texts_ = {{3, 14, 15, 9, 26, 5, 7}, {2, 7, 18, 28}};

    void SetUp() override {
        std::vector<Stored> stored = {
            {"embed", Dtype::f32, {d, n_vocab}, random_values(d * n_vocab, 1)},
            {"pos", Dtype::f32, {d, n_ctx}, random_values(d * n_ctx, 2)}};
        unsigned seed = 3;
        for (std::string name : {"a.q", "a.k", "a.v", "a.out"}) {
            values_[name + ".weight"] = random_values(d * d, seed++);
            values_[name + ".bias"] = random_values(d, seed++);
            stored.push_back({name + ".weight", Dtype::f32, {d, d}, values_[name + ".weight"]});
            if (name == "a.k")
                values_[name + ".bias"].assign(d, 0.0f);  // it has none
            else
                stored.push_back({name + ".bias", Dtype::f32, {d}, values_[name + ".bias"]});
        }
        values_["embed"] = stored[0].values;
        values_["pos"] = stored[1].values;
        weights_ = std::make_unique<Weights>(file_of(stored));
        embed_ = weights_->root().need("embed", Role::table, {d, n_vocab});
        pos_ = weights_->root().need("pos", Role::table, {d, n_ctx});
        attention_.bind(weights_->root() / "a", {n_heads, d});
        finish(*weights_);
    }

    // Output [d] of each token that `feed` picks, after feeding `tokens`, at most n a row.
    std::vector<float> step(Machine& m, KvCache& cache, StepFeed& feed,
                            const std::vector<std::vector<int>>& tokens, int n, bool pick_all) {
        int n_rows = static_cast<int>(tokens.size());
        int n_picks = n_rows * (pick_all ? n + 1 : 1);
        Graph& g = m.compute->begin();
        StepInputs in = StepInputs::declare(g, {n, n_rows, n_ctx, n_picks});
        Tensor x = rows(embed_, in.ids) + rows(pos_, in.pos);
        Tensor y = attention_.over_cache(x, cache.layer(g, 0, {0, n_rows}), in);
        y = g.keep(rows(y, in.picks));
        feed.set(in.shape, tokens, 0);
        for (int i = 0; pick_all && i < n * n_rows; i++) feed.pick(i / n, i % n);
        EXPECT_TRUE(feed.run(*m.compute, in));
        feed.advance();
        auto values = m.compute->values(y);
        return {values.begin(), values.end()};
    }

    // w x + b for each column
    std::vector<float> linear(const std::string& name, const std::vector<double>& x) const {
        const std::vector<float>&w = values_.at(name + ".weight"), &b = values_.at(name + ".bias");
        std::vector<float> out;
        for (size_t at = 0; at < x.size(); at += d) {
            for (size_t o = 0; o < d; o++) {
                double sum = b[o];
                for (size_t i = 0; i < d; i++) sum += w[o * d + i] * x[at + i];
                out.push_back(static_cast<float>(sum));
            }
        }
        return out;
    }

    // What each token of a row attends to: itself and all before.
    std::vector<float> expected(const std::vector<int>& text) const {
        std::vector<double> x;
        std::vector<bool> sees;
        for (size_t t = 0; t < text.size(); t++) {
            for (size_t i = 0; i < d; i++) {
                x.push_back(values_.at("embed")[static_cast<size_t>(text[t]) * d + i] +
                            values_.at("pos")[t * d + i]);
            }
            for (size_t slot = 0; slot < text.size(); slot++) sees.push_back(slot <= t);
        }
        auto n = static_cast<i64>(text.size());
        return linear("a.out", sdpa_of(linear("a.q", x), linear("a.k", x), linear("a.v", x), sees,
                                       {n_heads, n_heads, d / n_heads, n, n, 1}));
    }

    static double distance(std::span<const float> ours, std::span<const float> reference) {
        return nmse({ours.begin(), ours.end()}, {reference.begin(), reference.end()});
    }

    std::map<std::string, std::vector<float>> values_;
    std::unique_ptr<Weights> weights_;
    Weight embed_, pos_;
    Attention attention_;
};

TEST_F(OverCache, AllAtOnceIsTheLoop) {
    for (bool flash : {true, false}) {
        Machine m;
        m.compute->flash = flash;
        KvCache cache = *KvCache::make(*m.compute, {1, d, n_ctx, 2, Dtype::f32});
        StepFeed feed(2);
        feed.begin(0, 0), feed.begin(1, 0);
        std::vector<float> y = step(m, cache, feed, texts_, 7, true);
        for (size_t row = 0; row < 2; row++) {
            std::vector<float> all = expected(texts_[row]);
            std::span ours(y), reference(all);
            // First come both rows' last tokens, then all tokens of each row with its padding.
            EXPECT_LE(distance(ours.subspan((2 + row * 7) * d, all.size()), reference), 1e-11);
            EXPECT_LE(distance(ours.subspan(row * d, d), reference.last(d)), 1e-11);
        }
    }
}

TEST_F(OverCache, OneByOneIsTheLoopWhenRowsEndApart) {
    Machine m;
    KvCache cache = *KvCache::make(*m.compute, {1, d, n_ctx, 2, Dtype::f32});
    StepFeed feed(2);
    feed.begin(0, 0), feed.begin(1, 0);
    std::vector<std::vector<float>> all = {expected(texts_[0]), expected(texts_[1])};
    for (size_t t = 0; t < texts_[0].size(); t++) {
        std::vector<std::vector<int>> tokens;
        for (const std::vector<int>& text : texts_) {
            tokens.push_back({text[std::min(t, text.size() - 1)]});
        }
        if (t == texts_[1].size()) feed.end(1);
        std::vector<float> y = step(m, cache, feed, tokens, 1, false);
        for (size_t row = 0; row < 2; row++) {
            if (t >= texts_[row].size()) continue;
            EXPECT_LE(
                distance(std::span(y).subspan(row * d, d), std::span(all[row]).subspan(t * d, d)),
                1e-11)
                << "row " << row << ", token " << t;
        }
    }
    EXPECT_EQ(feed.longest(), 7);
}

// What padding wrote behind the short row is overwritten, or hidden, when the row goes on.
TEST_F(OverCache, AShortRowGoesOnBehindItsPadding) {
    Machine m;
    KvCache cache = *KvCache::make(*m.compute, {1, d, n_ctx, 2, Dtype::f32});
    StepFeed feed(2);
    feed.begin(0, 0), feed.begin(1, 0);
    step(m, cache, feed, texts_, 7, false);
    std::vector<float> y = step(m, cache, feed, {{11, 12}, {21}}, 2, false);
    std::vector<std::vector<int>> whole = texts_;
    whole[0].insert(whole[0].end(), {11, 12});
    whole[1].push_back(21);
    for (size_t row = 0; row < 2; row++) {
        std::vector<float> all = expected(whole[row]);
        EXPECT_LE(distance(std::span(y).subspan(row * d, d), std::span(all).last(d)), 1e-11) << row;
    }
}

// A row that filled its cache and ended is still fed, while others go on.
TEST_F(OverCache, AnEndedRowNeedsNoMoreRoom) {
    StepFeed feed(2);
    feed.begin(0, 0), feed.begin(1, 0);
    StepShape shape{static_cast<int>(n_ctx), 2, static_cast<int>(n_ctx), 2};
    feed.set(shape, std::vector<std::vector<int>>{std::vector<int>(n_ctx, 1), {2}}, 0);
    feed.advance();
    feed.end(0);
    shape.n_tokens = 1;
    EXPECT_NO_THROW(feed.set(shape, std::vector<std::vector<int>>{{3}, {4}}, 0));
    feed.advance();
    EXPECT_EQ(feed.longest(), 2);  // only rows that go on count
}

// Two rows of text that listen to one recording are as two recordings that are the same.
TEST_F(OverCache, RowsOfOneRecordingShareItsMemory) {
    constexpr i64 n_frames = 9;
    Machine m;
    std::vector<float> x = random_values(d * 2, 1), one = random_values(d * n_frames, 2);
    std::vector<float> two = one;
    two.insert(two.end(), one.begin(), one.end());
    auto run = [&](const std::vector<float>& encoded, i64 n_recordings) {
        Graph& g = m.compute->begin();
        Tensor xt = g.input("x", Dtype::f32, {d, 2});
        Tensor memory = g.input("encoded", Dtype::f32, {d, n_frames, n_recordings});
        Tensor y = g.keep(attention_.over_memory(xt, attention_.memory_of(memory)));
        return m.run(y, {{xt, x}, {memory, encoded}});
    };
    EXPECT_LE(distance(run(one, 1), run(two, 2)), 1e-12);
    std::vector<double> encoded(one.begin(), one.end());
    std::vector<float> expected =
        linear("a.out", sdpa_of(linear("a.q", {x.begin(), x.end()}), linear("a.k", encoded),
                                linear("a.v", encoded), std::vector<bool>(2 * n_frames, true),
                                {n_heads, n_heads, d / n_heads, 2, n_frames, 1}));
    EXPECT_LE(distance(run(one, 1), expected), 1e-11);
}

}  // namespace

}  // namespace transcribe::test
