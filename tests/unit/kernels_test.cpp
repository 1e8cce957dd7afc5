// Our own kernels against plain loops in double precision, for every kind of processor that this
// build has code for and this machine can run.
#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "kernels/attention.h"
#include "kernels/product.h"

namespace transcribe::kernels {
namespace {

constexpr double nmse_max = 1e-12;

std::vector<float> noise(size_t n, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> draw;
    std::vector<float> out(n);
    for (float& x : out) x = draw(random);
    return out;
}

std::uint16_t bf16_of(float x) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return static_cast<std::uint16_t>(bits >> 16);
}
float of_bf16(std::uint16_t half) {
    std::uint32_t bits = static_cast<std::uint32_t>(half) << 16;
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

double nmse(const std::vector<float>& got, const std::vector<double>& wanted) {
    double error = 0, power = 0;
    for (size_t i = 0; i < wanted.size(); i++) {
        error += std::pow(got[i] - wanted[i], 2);
        power += wanted[i] * wanted[i];
    }
    return error / power;
}

// Values stored as one of the types, and what that left of them.
struct StoredValues {
    std::vector<float> values;
    std::vector<std::uint16_t> halves;
    const void* data() const {
        return halves.empty() ? static_cast<const void*>(values.data()) : halves.data();
    }
};
// Rounded to nearest even.
float to_bf16(float x) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    bits += 0x7fff + (bits >> 16 & 1);
    return of_bf16(static_cast<std::uint16_t>(bits >> 16));
}
std::vector<float> to_bf16(std::vector<float> values) {
    for (float& x : values) x = to_bf16(x);
    return values;
}
StoredValues stored_as(Stored type, std::vector<float> values) {
    StoredValues out{std::move(values), {}};
    if (type != Stored::bf16) return out;
    for (float& x : out.values) {
        out.halves.push_back(bf16_of(x));
        x = of_bf16(out.halves.back());
    }
    return out;
}
size_t bytes(Stored type) {
    return type == Stored::f32 ? 4 : 2;
}

class Kernels : public testing::TestWithParam<std::int64_t> {
  protected:
    void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
    void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};
std::vector<std::int64_t> targets() {
    std::vector<std::int64_t> out;
    std::int64_t all = hwy::SupportedTargets() & HWY_TARGETS;
    for (std::int64_t bit = 1; bit > 0 && bit <= all; bit <<= 1) {
        if (all & bit) out.push_back(bit);
    }
    return out;
}
INSTANTIATE_TEST_SUITE_P(Targets, Kernels, testing::ValuesIn(targets()), [](const auto& target) {
    return std::string(hwy::TargetName(target.param));
});

struct Sizes {
    size_t n_in, n_out, n_rows;
};

void check_product(Stored type, const Sizes& s, bool with_bias, bool gelu, size_t n_shares,
                   bool bf16 = false) {
    StoredValues w = stored_as(type, noise(s.n_in * s.n_out, 1));
    std::vector<float> x = noise(s.n_in * s.n_rows, 2), bias = noise(s.n_out, 3);
    std::vector<float> y(s.n_out * s.n_rows, std::numeric_limits<float>::quiet_NaN());
    Product p{.w = {w.data(), type, s.n_in * bytes(type)},
              .x = x.data(),
              .x_stride = s.n_in,
              .y = y.data(),
              .y_stride = s.n_out,
              .n_in = s.n_in,
              .n_out = s.n_out,
              .n_rows = s.n_rows,
              .bias = with_bias ? bias.data() : nullptr,
              .activation = gelu ? Activation::gelu : Activation::none,
              .bf16 = bf16};
    std::vector<float> packed(n_packed(p));
    p.packed = packed.data();
    if (!packed.empty()) {
        for (size_t i = 0; i < n_shares; i++) pack_rows(p, packed.data(), i, n_shares);
    }
    for (size_t i = 0; i < n_shares; i++) product(p, i, n_shares);
    if (bf16 && !packed.empty()) {
        x = to_bf16(x);
        w.values = to_bf16(w.values);
    }
    std::vector<double> wanted;
    for (size_t r = 0; r < s.n_rows; r++) {
        for (size_t o = 0; o < s.n_out; o++) {
            double sum = with_bias ? bias[o] : 0;
            for (size_t k = 0; k < s.n_in; k++) {
                sum += double(w.values[o * s.n_in + k]) * x[r * s.n_in + k];
            }
            wanted.push_back(gelu ? sum * 0.5 * (1 + std::erf(sum / std::sqrt(2.0))) : sum);
        }
    }
    EXPECT_LE(nmse(y, wanted), nmse_max)
        << s.n_in << " x " << s.n_out << ", " << s.n_rows << " rows, " << n_shares << " shares";
}

TEST_P(Kernels, ProductsOfAllSizes) {
    for (size_t n_rows : {1, 2, 3, 5, 7, 8, 11, 12, 13, 29, 100}) {
        for (size_t n_shares : {1, 2, 5}) {
            check_product(Stored::f32, {64, 96, n_rows}, true, false, n_shares);
            check_product(Stored::bf16, {37, 83, n_rows}, false, false, n_shares);
            check_product(Stored::bf16, {1, 1, n_rows}, true, false, n_shares);
        }
    }
    check_product(Stored::f32, {1600, 130, 60}, true, false, 2);  // more than one group of panels
}

TEST_P(Kernels, RoundedProductsAreThoseOfRoundedNumbers) {
    for (size_t n_rows : {1, 12, 13, 29, 100}) {
        for (size_t n_shares : {1, 5}) {
            check_product(Stored::f32, {64, 96, n_rows}, true, false, n_shares, true);
            check_product(Stored::f32, {37, 83, n_rows}, false, true, n_shares, true);
            check_product(Stored::bf16, {1, 1, n_rows}, true, false, n_shares, true);
        }
    }
    check_product(Stored::f32, {1601, 130, 60}, true, false, 2, true);
}

TEST_P(Kernels, GeluOfTheSum) {
    for (size_t n_rows : {1, 4, 40}) check_product(Stored::f32, {16, 45, n_rows}, true, true, 2);
}

struct Heads {
    size_t d_head, n_heads, n_kv_heads, n_queries, n_keys, n_batch;
};

// Weights are rounded after their sum was taken: by up to 2^-9 of each.
constexpr double rounded_nmse_max = 5e-6;

void check_attention(Stored type, const Heads& h, bool causal, size_t n_shares, bool bf16 = false) {
    size_t d = h.d_head * h.n_heads, d_kv = h.d_head * h.n_kv_heads;
    std::vector<float> q = noise(d * h.n_queries * h.n_batch, 1), out(q.size());
    StoredValues k = stored_as(type, noise(d_kv * h.n_keys * h.n_batch, 2));
    StoredValues v = stored_as(type, noise(d_kv * h.n_keys * h.n_batch, 3));
    std::vector<std::uint16_t> mask(h.n_keys * h.n_queries * h.n_batch, 0);
    auto hidden = [&](size_t t, size_t s) { return causal && s > t; };
    for (size_t i = 0; i < mask.size(); i++) {
        if (hidden(i / h.n_keys % h.n_queries, i % h.n_keys)) mask[i] = 0xFC00;
    }
    size_t row_bytes = d_kv * bytes(type);
    float scale = 1 / std::sqrt(float(h.d_head));
    Attention a{.q = q.data(),
                .k = {k.data(), type, row_bytes, row_bytes * h.n_keys},
                .v = {v.data(), type, row_bytes, row_bytes * h.n_keys},
                .mask = causal ? mask.data() : nullptr,
                .mask_stride = h.n_keys,
                .out = out.data(),
                .d_head = h.d_head,
                .n_heads = h.n_heads,
                .n_kv_heads = h.n_kv_heads,
                .n_queries = h.n_queries,
                .n_keys = h.n_keys,
                .n_batch = h.n_batch,
                .scale = scale,
                .bf16 = bf16};
    for (size_t i = 0; i < n_shares; i++) attention(a, i, n_shares);
    if (bf16) {
        q = to_bf16(q);
        k.values = to_bf16(k.values);
        v.values = to_bf16(v.values);
    }

    std::vector<double> wanted(out.size(), 0.0);
    for (size_t i = 0; i < h.n_batch * h.n_queries * h.n_heads; i++) {
        size_t head = i % h.n_heads, t = i / h.n_heads % h.n_queries;
        size_t b = i / h.n_heads / h.n_queries, kv_head = head / (h.n_heads / h.n_kv_heads);
        auto at = [&](size_t s, size_t c) {
            return ((b * h.n_keys + s) * h.n_kv_heads + kv_head) * h.d_head + c;
        };
        std::vector<double> weights;
        double sum = 0;
        for (size_t s = 0; s < h.n_keys; s++) {
            double score = 0;
            for (size_t c = 0; c < h.d_head; c++) {
                score += double(q[i * h.d_head + c]) * k.values[at(s, c)];
            }
            weights.push_back(hidden(t, s) ? 0 : std::exp(score * scale));
            sum += weights.back();
        }
        for (size_t s = 0; s < h.n_keys; s++) {
            for (size_t c = 0; c < h.d_head; c++) {
                wanted[i * h.d_head + c] += weights[s] / sum * v.values[at(s, c)];
            }
        }
    }
    EXPECT_LE(nmse(out, wanted), bf16 ? rounded_nmse_max : nmse_max)
        << h.n_queries << " queries, " << h.n_keys << " keys, " << n_shares << " shares";
}

TEST_P(Kernels, AttentionOfAllSizes) {
    for (Stored type : {Stored::f32, Stored::bf16}) {
        for (size_t n_shares : {1, 2, 5}) {
            for (size_t n_queries : {1, 3, 8, 12, 29}) {
                check_attention(type, {64, 3, 3, n_queries, 50, 2}, false, n_shares);
                check_attention(type, {16, 4, 2, n_queries, 129, 1}, false, n_shares);
                check_attention(type, {48, 2, 1, n_queries, 33, 2}, true, n_shares);
            }
        }
    }
}

TEST_P(Kernels, RoundedAttentionOfAllSizes) {
    for (Stored type : {Stored::f32, Stored::bf16}) {
        for (size_t n_shares : {1, 5}) {
            check_attention(type, {64, 3, 3, 29, 51, 2}, false, n_shares, true);
            check_attention(type, {16, 4, 2, 12, 129, 1}, false, n_shares, true);
            check_attention(type, {48, 2, 1, 25, 33, 2}, true, n_shares, true);
        }
    }
}

TEST_P(Kernels, AttentionFitsTheHeadsOfAllModels) {
    for (size_t d_head : {48, 64, 80, 128}) EXPECT_TRUE(attention_fits(d_head)) << d_head;
}

}  // namespace
}  // namespace transcribe::kernels
