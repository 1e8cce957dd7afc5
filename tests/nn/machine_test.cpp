// What a session stands on: memory that outlives graphs, the order of writes and reads, threads on
// loan, cancelling.
#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <thread>

#include "nn.h"
#include "nn/ops.h"
#include "tensor/kv.h"

namespace transcribe::test {

namespace {

using namespace std::chrono_literals;

TEST(Held, SurvivesTheNextGraph) {
    Machine m;
    std::vector<Shape> shapes = {{4, 3}, {5}};
    Held held = *m.compute->hold(Dtype::f32, shapes);
    EXPECT_GE(held.n_bytes(), (4 * 3 + 5) * sizeof(float));
    std::vector<float> a = random_values(12, 1), b = random_values(5, 2);
    Graph& g = m.compute->begin();
    Tensor at = g.input("a", Dtype::f32, {4, 3}), bt = g.input("b", Dtype::f32, {5});
    g.store(at, held[0]);
    g.store(bt, held[1]);
    ASSERT_TRUE(m.compute->run({{at, a}, {bt, b}}));
    Graph& other = m.compute->begin();  // one that uses memory of its own
    Tensor x = other.input("x", Dtype::f32, {4, 3});
    Tensor y = other.keep(2.0f * (x + x));
    m.run(y, {{x, a}});
    Graph& reader = m.compute->begin();
    Tensor ya = reader.keep(1.0f * reader.use(held[0]));
    Tensor yb = reader.keep(1.0f * reader.use(held[1]));
    EXPECT_EQ(m.run(ya, {}), a);
    auto values = m.compute->values(yb);
    EXPECT_EQ(std::vector<float>(values.begin(), values.end()), b);
}

TEST(Compute, AGraphRunsAgainWithNewInputs) {
    Machine m;
    Graph& g = m.compute->begin();
    Tensor x = g.input("x", Dtype::f32, {3});
    Tensor y = g.keep(2.0f * x);
    EXPECT_EQ(m.run(y, {{x, std::vector<float>{1, 2, 3}}}), (std::vector<float>{2, 4, 6}));
    EXPECT_EQ(m.run(y, {{x, std::vector<float>{5, 0, -1}}}), (std::vector<float>{10, 0, -2}));
}

TEST(KvCache, WhatIsReadIsWhatTheSameGraphWrites) {
    constexpr i64 d = 4;
    constexpr int n_ctx = 6;
    Machine m;
    KvCache cache = *KvCache::make(*m.compute, {2, d, n_ctx, 3, Dtype::f32});
    std::vector<float> old = random_values(d * n_ctx * 3, 1);
    Graph& first = m.compute->begin();
    Tensor all = first.input("all", Dtype::f32, {d, n_ctx, 3});
    cache.store({all, all}, 1, {0, 3});
    ASSERT_TRUE(m.compute->run({{all, old}}));

    // Two tokens into slots 4 and 2 of row 1, 0 and 5 of row 2.
    std::vector<float> k = random_values(d * 4, 2), v = random_values(d * 4, 3);
    std::vector<i64> slots = {4, 2, 0, 5};
    Graph& g = m.compute->begin();
    Tensor kt = g.input("k", Dtype::f32, {d, 2, 2}), vt = g.input("v", Dtype::f32, {d, 2, 2});
    Tensor at = g.input("slots", Dtype::i64, {2, 2});
    KvLayer now = cache.layer(g, 1, {1, 2}).write(kt, vt, at).first(n_ctx);
    Tensor yk = g.keep(1.0f * now.k), yv = g.keep(1.0f * now.v);
    std::vector<float> read_k = m.run(yk, {{kt, k}, {vt, v}, {at, slots}});
    auto values = m.compute->values(yv);
    std::vector<float> read_v(values.begin(), values.end());

    std::vector<float> expected_k(old.begin() + d * n_ctx, old.end()), expected_v = expected_k;
    for (size_t i = 0; i < 4; i++) {
        size_t to = (i / 2 * n_ctx + static_cast<size_t>(slots[i])) * d;
        std::copy_n(&k[i * d], d, &expected_k[to]);
        std::copy_n(&v[i * d], d, &expected_v[to]);
    }
    EXPECT_EQ(read_k, expected_k);
    EXPECT_EQ(read_v, expected_v);

    Graph& after = m.compute->begin();  // row 0 is as it was
    Tensor row0 = after.keep(1.0f * cache.layer(after, 1, {0, 1}).k);
    EXPECT_EQ(m.run(row0, {}), std::vector<float>(old.begin(), old.begin() + d * n_ctx));
}

TEST(KvCache, F16RowsAreReadAsTheyWereRounded) {
    constexpr i64 d = 32;
    Machine m;
    KvCache cache = *KvCache::make(*m.compute, {1, d, 4, 1, Dtype::f16});
    EXPECT_GE(cache.n_bytes(), static_cast<size_t>(2 * d * 4 * 2));
    std::vector<float> x = random_values(d * 2, 1);
    std::vector<i64> slots = {3, 1};
    std::vector<std::int32_t> picks = {3, 1};
    Graph& g = m.compute->begin();
    Tensor xt = g.input("x", Dtype::f32, {d, 2, 1}), at = g.input("slots", Dtype::i64, {2, 1});
    Tensor picked = g.input("picks", Dtype::i32, {2});
    KvLayer now = cache.layer(g, 0, {0, 1}).write(xt, xt, at);
    Tensor y = g.keep(rows(now.k, picked) + rows(now.v, picked));
    std::vector<float> twice = rounded_to(Dtype::f16, x, d);
    for (float& value : twice) value *= 2;
    EXPECT_EQ(m.run(y, {{xt, x}, {at, slots}, {picked, picks}}), twice);
}

TEST(Lanes, ALeaseWaitsForItsTurn) {
    auto lanes = *Lanes::make(1, 2);
    auto first = std::make_optional<Lanes::Lease>(*lanes);
    auto second = std::async(std::launch::async, [&] { return &Lanes::Lease(*lanes).team(); });
    EXPECT_EQ(second.wait_for(50ms), std::future_status::timeout) << "it did not wait";
    Team* team = &first->team();
    EXPECT_EQ(team->n_threads(), 2);
    first.reset();
    ASSERT_EQ(second.wait_for(20s), std::future_status::ready) << "it was not woken";
    EXPECT_EQ(second.get(), team);
}

TEST(Lanes, TwoLanesServeTwoAtOnce) {
    auto lanes = *Lanes::make(2, 1);
    Lanes::Lease first(*lanes);
    Lanes::Lease second(*lanes);
    EXPECT_NE(&first.team(), &second.team());
}

TEST(Team, DoesEveryShareOnce) {
    for (int n_threads : {1, 2, 5}) {
        auto team = *Team::make(n_threads);
        for (int round = 0; round < 2000; round++) {
            auto n = static_cast<size_t>(round % 40);
            std::vector<std::atomic<int>> done(n);
            team->run(n, [&](size_t i) { done[i]++; });
            for (auto& count : done) ASSERT_EQ(count, 1) << n_threads << " threads, " << n;
            if (round % 500 == 0) std::this_thread::sleep_for(2ms);  // helpers fall asleep
        }
    }
}

TEST(Team, AnyoneDoesTheSharesOfWhoeverIsHeldUp) {
    auto team = *Team::make(2);
    std::atomic<int> n_by_others = 0;
    team->run(50, [&](size_t i) {
        if (i == 0) {
            auto until = std::chrono::steady_clock::now() + 20s;
            while (n_by_others < 49 && std::chrono::steady_clock::now() < until) {
                std::this_thread::yield();
            }
        } else {
            n_by_others++;
        }
    });
    EXPECT_EQ(n_by_others, 49);
}

TEST(Lanes, AtLeastOneProcessorIsUsable) {
    EXPECT_GE(usable_cpus(), 1);
}

TEST(Cancelled, BeforeARunAndUntilTakenBack) {
    Machine m;
    Graph& g = m.compute->begin();
    Tensor x = g.input("x", Dtype::f32, {2});
    Tensor y = g.keep(x + x);
    std::vector<float> values = {1, 2};
    m.compute->cancelled() = true;
    Status status = m.compute->run({{x, values}});
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, Code::aborted);
    m.compute->cancelled() = false;
    EXPECT_EQ(m.run(y, {{x, values}}), (std::vector<float>{2, 4}));
}

// Cancels when the first node has been computed.
class Canceller : public TapSink {
  public:
    explicit Canceller(Compute& compute) : compute_(compute) {}
    bool wants(std::string_view name) override { return name == "first" || name == "last"; }
    void take(std::string_view name, const Shape&, std::span<const float>) override {
        if (name == "first") compute_.cancelled() = true;
        if (name == "last") reached_the_end = true;
    }
    bool reached_the_end = false;

  private:
    Compute& compute_;
};

TEST(Cancelled, InTheMiddleOfAGraph) {
    Machine m;
    Canceller canceller(*m.compute);
    m.compute->observe(&canceller);
    Graph& g = m.compute->begin();
    Tensor x = g.input("x", Dtype::f32, {2});
    Tensor first = g.tap(x + x, "first");
    g.keep(g.tap(first * first, "last"));
    Status status = m.compute->run({{x, std::vector<float>{1, 2}}});
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, Code::aborted);
    EXPECT_FALSE(canceller.reached_the_end);
}

}  // namespace

}  // namespace transcribe::test
