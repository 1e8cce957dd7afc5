// Our own kernels against plain loops in double precision, for every kind of processor that this
// build has code for and this machine can run.
#include <ggml.h>
#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <span>
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
    std::vector<std::uint8_t> blocks;
    const void* data() const {
        if (!blocks.empty()) return blocks.data();
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
// 64 neighbours of a row, or what is left of it, to 127 steps of their largest.
void to_int8(std::span<float> group) {
    float largest = 0;
    for (float x : group) largest = std::max(largest, std::abs(x));
    for (float& x : group) x = std::nearbyint(x * (127 / largest)) * (largest / 127);
}
std::vector<float> rounded(std::vector<float> rows, size_t n_row, Rounding rounding) {
    if (rounding == Rounding::bf16) return to_bf16(std::move(rows));
    if (rounding == Rounding::none) return rows;
    for (size_t row = 0; row < rows.size(); row += n_row) {
        for (size_t k = 0; k < n_row; k += 64) {
            to_int8(std::span(rows).subspan(row + k, std::min<size_t>(64, n_row - k)));
        }
    }
    return rows;
}
StoredValues stored_as(Stored type, std::vector<float> values) {
    StoredValues out{std::move(values), {}, {}};
    if (type == Stored::q8_0) {
        const auto n = static_cast<std::int64_t>(out.values.size());
        out.blocks.resize(out.values.size() / 32 * 34);
        ggml_get_type_traits(GGML_TYPE_Q8_0)
            ->from_float_ref(out.values.data(), out.blocks.data(), n);
        ggml_get_type_traits(GGML_TYPE_Q8_0)->to_float(out.blocks.data(), out.values.data(), n);
    }
    if (type != Stored::bf16) return out;
    for (float& x : out.values) {
        out.halves.push_back(bf16_of(x));
        x = of_bf16(out.halves.back());
    }
    return out;
}
size_t bytes(Stored type, size_t n) {
    if (type == Stored::q8_0) return n / 32 * 34;
    return n * (type == Stored::f32 ? 4 : 2);
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
                   Rounding rounding = Rounding::none) {
    StoredValues w = stored_as(type, noise(s.n_in * s.n_out, 1));
    std::vector<float> x = noise(s.n_in * s.n_rows, 2), bias = noise(s.n_out, 3);
    std::vector<float> y(s.n_out * s.n_rows, std::numeric_limits<float>::quiet_NaN());
    const bool bf16 = rounding == Rounding::bf16, int8 = rounding == Rounding::int8;
    std::vector<float> panels(int8 ? n_weight_floats(s.n_in, s.n_out) : 0);
    Product p{.w = {w.data(), type, bytes(type, s.n_in)},
              .x = x.data(),
              .x_stride = s.n_in,
              .y = y.data(),
              .y_stride = s.n_out,
              .n_in = s.n_in,
              .n_out = s.n_out,
              .n_rows = s.n_rows,
              .bias = with_bias ? bias.data() : nullptr,
              .activation = gelu ? Activation::gelu : Activation::none,
              .panels = int8 ? panels.data() : nullptr,
              .bf16 = bf16};
    if (int8) {
        for (size_t i = 0; i < n_shares; i++) {
            pack_weights(p.w, s.n_in, s.n_out, panels.data(), i, n_shares);
        }
    }
    std::vector<float> packed(n_packed(p));
    p.packed = packed.data();
    if (!packed.empty()) {
        for (size_t i = 0; i < n_shares; i++) pack_rows(p, packed.data(), i, n_shares);
    }
    for (size_t i = 0; i < n_shares; i++) product(p, i, n_shares);
    if (!packed.empty()) {
        x = rounded(std::move(x), s.n_in, rounding);
        w.values = rounded(std::move(w.values), s.n_in, rounding);
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
            check_product(Stored::f32, {64, 96, n_rows}, true, false, n_shares, Rounding::bf16);
            check_product(Stored::f32, {37, 83, n_rows}, false, true, n_shares, Rounding::bf16);
            check_product(Stored::bf16, {1, 1, n_rows}, true, false, n_shares, Rounding::bf16);
        }
    }
    check_product(Stored::f32, {1601, 130, 60}, true, false, 2, Rounding::bf16);
}

TEST_P(Kernels, ProductsIn8BitsAreThoseOfRoundedNumbers) {
    for (size_t n_rows : {1, 2, 4, 8, 12, 13, 29, 100}) {
        for (size_t n_shares : {1, 5}) {
            check_product(Stored::f32, {64, 96, n_rows}, true, false, n_shares, Rounding::int8);
            check_product(Stored::f32, {201, 83, n_rows}, false, true, n_shares, Rounding::int8);
            check_product(Stored::bf16, {1, 1, n_rows}, true, false, n_shares, Rounding::int8);
        }
    }
    check_product(Stored::bf16, {1601, 330, 60}, true, false, 2, Rounding::int8);
}

TEST_P(Kernels, GroupsOfZerosIn8BitsStayZeroAndNoNumbersAreBorne) {
    const size_t n_in = 70;
    std::vector<float> w(n_in), x(n_in), y{1}, panels(n_weight_floats(n_in, 1));
    Product p{.w = {w.data(), Stored::f32, n_in * sizeof(float)},
              .x = x.data(),
              .x_stride = n_in,
              .y = y.data(),
              .y_stride = 1,
              .n_in = n_in,
              .n_out = 1,
              .n_rows = 1,
              .panels = panels.data()};
    pack_weights(p.w, n_in, 1, panels.data(), 0, 1);
    std::vector<float> packed(n_packed(p));
    p.packed = packed.data();
    pack_rows(p, packed.data(), 0, 1);
    product(p, 0, 1);
    EXPECT_EQ(y[0], 0);

    // Nor does what is no number do more than spoil its own group.
    x[0] = std::numeric_limits<float>::quiet_NaN();
    x[1] = std::numeric_limits<float>::infinity();
    pack_rows(p, packed.data(), 0, 1);
    product(p, 0, 1);
}

TEST_P(Kernels, GeluOfTheSum) {
    for (size_t n_rows : {1, 4, 40}) check_product(Stored::f32, {16, 45, n_rows}, true, true, 2);
}

struct Heads {
    size_t d_head, n_heads, n_kv_heads, n_queries, n_keys, n_batch;
};

double attention_nmse_max(Rounding rounding) {
    switch (rounding) {
        case Rounding::none: return nmse_max;
        // Weights are rounded after their sum was taken: by up to 2^-9 of each.
        case Rounding::bf16: return 5e-6;
        // Of four operands, each by up to 1/254 of the largest of its group.
        case Rounding::int8: return 4e-4;
    }
    return 0;
}

void check_attention(Stored type, const Heads& h, bool causal, size_t n_shares,
                     Rounding rounding = Rounding::none) {
    size_t d = h.d_head * h.n_heads, d_kv = h.d_head * h.n_kv_heads;
    std::vector<float> q = noise(d * h.n_queries * h.n_batch, 1), out(q.size());
    StoredValues k = stored_as(type, noise(d_kv * h.n_keys * h.n_batch, 2));
    StoredValues v = stored_as(type, noise(d_kv * h.n_keys * h.n_batch, 3));
    std::vector<std::uint16_t> mask(h.n_keys * h.n_queries * h.n_batch, 0);
    auto hidden = [&](size_t t, size_t s) { return causal && s > t; };
    for (size_t i = 0; i < mask.size(); i++) {
        if (hidden(i / h.n_keys % h.n_queries, i % h.n_keys)) mask[i] = 0xFC00;
    }
    size_t row_bytes = bytes(type, d_kv);
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
                .rounding = rounding};
    for (size_t i = 0; i < n_shares; i++) attention(a, i, n_shares);
    if (rounding == Rounding::bf16) {
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
    EXPECT_LE(nmse(out, wanted), attention_nmse_max(rounding))
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
    for (Rounding rounding : {Rounding::bf16, Rounding::int8}) {
        for (Stored type : {Stored::f32, Stored::bf16}) {
            for (size_t n_shares : {1, 5}) {
                check_attention(type, {64, 3, 3, 29, 51, 2}, false, n_shares, rounding);
                check_attention(type, {16, 4, 2, 12, 129, 1}, false, n_shares, rounding);
                check_attention(type, {48, 2, 1, 25, 33, 2}, true, n_shares, rounding);
            }
        }
    }
}

// Few queries read them as they are; many have them rounded once more.
TEST_P(Kernels, AttentionOverKeysAndValuesIn8Bits) {
    for (size_t n_shares : {1, 5}) {
        for (size_t n_queries : {1, 3}) {
            check_attention(Stored::q8_0, {64, 3, 3, n_queries, 50, 2}, false, n_shares);
        }
        check_attention(Stored::q8_0, {64, 3, 3, 29, 51, 2}, false, n_shares, Rounding::int8);
        check_attention(Stored::q8_0, {96, 2, 1, 25, 33, 2}, true, n_shares, Rounding::int8);
    }
}

TEST_P(Kernels, AttentionFitsTheHeadsOfAllModels) {
    for (size_t d_head : {48, 64, 80, 128}) {
        EXPECT_TRUE(attention_fits(d_head, Stored::f16)) << d_head;
    }
    EXPECT_TRUE(attention_fits(64, Stored::q8_0));
    EXPECT_FALSE(attention_fits(80, Stored::q8_0));
    EXPECT_FALSE(attention_fits(64, Stored::blocks));
}

}  // namespace
}  // namespace transcribe::kernels
