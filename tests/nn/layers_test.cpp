// Layers against naive loops in double.
#include <cmath>

#include <fmt/format.h>

#include "kernels/rows.h"
#include "nn.h"
#include "nn/conv.h"
#include "nn/linear.h"
#include "nn/norm.h"

namespace transcribe::test {

namespace {

double gelu_of(double x) {
    return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0)));
}

// Exact up to the rounding of F32.
constexpr double f32_max = 1e-12;
// A product of an F16 matrix rounds its other side to F16.
constexpr double f16_max = 2e-7;

struct ConvCase {
    i64 n_in, n_out, n_frames, n_batch;
    int stride;
};

// w [3, C_in, C_out], x [C_in, T, B] -> [C_out, T', B]
std::vector<double> conv_of(const std::vector<float>& w, const std::vector<float>& x, ConvCase c) {
    std::vector<double> out;
    for (i64 b = 0; b < c.n_batch; b++) {
        for (i64 t = 0; t < c.n_frames; t += c.stride) {
            for (i64 o = 0; o < c.n_out; o++) {
                double sum = 0;
                for (i64 i = 0; i < 3 * c.n_in; i++) {
                    i64 k = i / c.n_in, channel = i % c.n_in, from = t + k - 1;
                    if (from < 0 || from >= c.n_frames) continue;
                    double tap = w[static_cast<size_t>((o * c.n_in + channel) * 3 + k)];
                    sum += tap * x[static_cast<size_t>((b * c.n_frames + from) * c.n_in + channel)];
                }
                out.push_back(sum);
            }
        }
    }
    return out;
}

class Conv : public ::testing::TestWithParam<std::tuple<Dtype, int, int>> {};

TEST_P(Conv, IsTheLoop) {
    auto [dtype, stride, n_frames] = GetParam();
    ConvCase c{20, 24, n_frames, 2, stride};
    std::vector<float> w = random_values(3 * c.n_in * c.n_out, 1);
    std::vector<float> x = random_values(c.n_in * c.n_frames * c.n_batch, 2);
    Weights weights(file_of({{"c.weight", dtype, {3, c.n_in, c.n_out}, w},
                             {"c.bias", Dtype::f32, {c.n_out}, random_values(c.n_out, 3)}}));
    Conv3 conv;
    conv.bind(weights.root() / "c", c.n_in, c.n_out, c.stride);
    finish(weights);
    EXPECT_EQ(conv.w.dtype(), dtype);
    Machine m;
    Graph& g = m.compute->begin();
    Tensor in = g.input("x", Dtype::f32, {c.n_in, c.n_frames, c.n_batch});
    Tensor y = g.keep(conv(in));
    EXPECT_EQ(y.dim(1), (c.n_frames + c.stride - 1) / c.stride);
    double error = nmse(m.run(y, {{in, x}}), conv_of(rounded_to(dtype, w, 3), x, c));
    EXPECT_LE(error, dtype == Dtype::f32 ? f32_max : f16_max);
}

INSTANTIATE_TEST_SUITE_P(Kernels, Conv,
                         ::testing::Combine(::testing::Values(Dtype::f32, Dtype::f16),
                                            ::testing::Values(1, 2), ::testing::Values(12, 13)));

TEST(Gelu, RowIsWithinItsBound) {
    std::vector<float> x, bias;
    for (int i = 0; i <= 200000; i++) {
        x.push_back(-10.0f + static_cast<float>(i) * 1e-4f);
        bias.push_back(static_cast<float>(i % 7) * 0.25f);
    }
    std::vector<float> plain(x.size()), biased(x.size());
    kernels::activate(kernels::Activation::gelu, x.data(), nullptr, plain.data(), x.size());
    kernels::activate(kernels::Activation::gelu, x.data(), bias.data(), biased.data(), x.size());
    double worst = 0;
    for (size_t i = 0; i < x.size(); i++) {
        double xb = x[i] + bias[i];  // rounded to F32, as the row does it
        worst =
            std::max({worst, std::abs(plain[i] - gelu_of(x[i])) / std::max(1.0f, std::abs(x[i])),
                      std::abs(biased[i] - gelu_of(xb)) / std::max(1.0, std::abs(xb))});
    }
    EXPECT_LE(worst, 3.5e-7);  // 2.2e-7 where the processor fuses multiply and add
}

TEST(Gelu, NodesAreTheLoopOverAllRows) {
    constexpr i64 d = 37, n_rows = 11;
    std::vector<float> x = random_values(d * n_rows, 1), bias = random_values(d, 2);
    Weights weights(file_of({{"bias", Dtype::f32, {d}, bias}}));
    Weight b = weights.root().need("bias", Role::vector, {d});
    finish(weights);
    Machine m;
    for (bool biased : {false, true}) {
        std::vector<double> expected;
        for (size_t i = 0; i < x.size(); i++) {
            expected.push_back(gelu_of(biased ? x[i] + bias[i % d] : x[i]));
        }
        Graph& g = m.compute->begin();
        Tensor in = g.input("x", Dtype::f32, {d, n_rows});
        Tensor y = g.keep(biased ? gelu(in, b) : gelu(in));
        EXPECT_LE(nmse(m.run(y, {{in, x}}), expected), f32_max) << biased;
    }
}

TEST(LayerNorm, IsTheLoop) {
    constexpr i64 d = 50, n = 6;
    std::vector<float> x = random_values(d * n, 1), w = random_values(d, 2),
                       b = random_values(d, 3);
    std::vector<double> expected;
    for (size_t row = 0; row < n; row++) {
        for (size_t i = 0; i < d; i++) x[row * d + i] += static_cast<float>(row) * 3;
        double mean = 0, variance = 0;
        for (size_t i = 0; i < d; i++) mean += x[row * d + i] / static_cast<double>(d);
        for (size_t i = 0; i < d; i++) variance += std::pow(x[row * d + i] - mean, 2) / d;
        for (size_t i = 0; i < d; i++) {
            expected.push_back((x[row * d + i] - mean) / std::sqrt(variance + 1e-5) * w[i] + b[i]);
        }
    }
    Weights weights(file_of({{"n.weight", Dtype::f32, {d}, w}, {"n.bias", Dtype::f32, {d}, b}}));
    LayerNorm norm;
    norm.bind(weights.root() / "n", d);
    finish(weights);
    Machine m;
    Graph& g = m.compute->begin();
    Tensor in = g.input("x", Dtype::f32, {d, 3, 2});
    Tensor y = g.keep(norm(in));
    EXPECT_LE(nmse(m.run(y, {{in, x}}), expected), f32_max);
}

TEST(PadRows, PutsOneRowOfZerosAtBothEndsOfEachBatchRow) {
    constexpr i64 d = 4, n = 3, n_batch = 2;
    std::vector<float> x = random_values(d * n * n_batch, 1), expected;
    for (size_t b = 0; b < n_batch; b++) {
        expected.insert(expected.end(), d, 0.0f);
        expected.insert(expected.end(), x.begin() + static_cast<long>(b * d * n),
                        x.begin() + static_cast<long>((b + 1) * d * n));
        expected.insert(expected.end(), d, 0.0f);
    }
    Machine m;
    Graph& g = m.compute->begin();
    Tensor in = g.input("x", Dtype::f32, {d, n, n_batch});
    EXPECT_EQ(m.run(g.keep(pad_rows(in)), {{in, x}}), expected);
}

TEST(Rows, PicksRowsOfATableAndOfANode) {
    constexpr i64 d = 6;
    std::vector<float> table = random_values(d * 5, 1);
    Weights weights(file_of({{"t", Dtype::f32, {d, 5}, table}}));
    Weight t = weights.root().need("t", Role::table, {d, 5});
    finish(weights);
    Machine m;
    Graph& g = m.compute->begin();
    Tensor ids = g.input("ids", Dtype::i32, {3}), picks = g.input("picks", Dtype::i32, {2});
    Tensor y = g.keep(rows(rows(t, ids), picks));
    std::vector<std::int32_t> of_table = {4, 0, 3}, of_node = {2, 1};
    std::vector<float> expected(table.begin() + 3 * d, table.begin() + 4 * d);  // row 3, then row 0
    expected.insert(expected.end(), table.begin(), table.begin() + d);
    EXPECT_EQ(m.run(y, {{ids, of_table}, {picks, of_node}}), expected);
}

// The embedding of tokens, in every type that a file may have it in.
TEST(Rows, OfAStoredMatrixAreItsValues) {
    constexpr i64 d = 256, n = 5;
    std::vector<float> table = random_values(d * n, 1);
    for (Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::q8_0, Dtype::q6_k, Dtype::q5_k,
                        Dtype::q4_k, Dtype::q5_0, Dtype::q5_1, Dtype::q4_0, Dtype::q4_1}) {
        Weights weights(file_of({{"t", dtype, {d, n}, table}}));
        Weight t = weights.root().need("t", Role::matrix, {d, n});
        finish(weights);
        Machine m;
        Graph& g = m.compute->begin();
        Tensor ids = g.input("ids", Dtype::i32, {2}), y = g.keep(rows(t, ids));
        std::vector<std::int32_t> wanted = {3, 1};
        std::vector<float> stored = rounded_to(dtype, table, d);
        std::vector<float> expected(stored.begin() + 3 * d, stored.begin() + 4 * d);
        expected.insert(expected.end(), stored.begin() + d, stored.begin() + 2 * d);
        EXPECT_EQ(m.run(y, {{ids, wanted}}), expected) << dtype_name(dtype);
    }
}

struct ProductCase {
    Dtype dtype;
    i64 n_in;
    double nmse_max;
};
class Product : public ::testing::TestWithParam<ProductCase> {};

// Against the dequantized matrix: what is left is how the product rounds its other side. With many
// rows it does not.
TEST_P(Product, OfAStoredMatrixIsThatOfItsValues) {
    auto [dtype, n_in, few_max] = GetParam();
    constexpr i64 n_out = 48, n_max = 40;
    std::vector<float> w = random_values(n_in * n_out, 1), bias = random_values(n_out, 2);
    std::vector<float> stored = rounded_to(dtype, w, n_in), all = random_values(n_in * n_max, 3);
    Weights weights(
        file_of({{"l.weight", dtype, {n_in, n_out}, w}, {"l.bias", Dtype::f32, {n_out}, bias}}));
    Linear linear;
    linear.bind(weights.root() / "l", n_in, n_out);
    finish(weights);
    EXPECT_EQ(linear.w.dtype(), dtype);
    Machine m;
    auto width = static_cast<size_t>(n_in);
    for (i64 n : {i64{1}, i64{5}, n_max}) {
        std::vector<float> x(all.begin(), all.begin() + n * n_in);
        std::vector<double> expected;
        for (size_t i = 0; i < static_cast<size_t>(n * n_out); i++) {
            size_t t = i / n_out, o = i % n_out;
            double sum = bias[o];
            for (size_t k = 0; k < width; k++) {
                sum += static_cast<double>(stored[o * width + k]) * x[t * width + k];
            }
            expected.push_back(sum);
        }
        Graph& g = m.compute->begin();
        Tensor in = g.input("x", Dtype::f32, {n_in, n});
        double error = nmse(m.run(g.keep(linear(in)), {{in, x}}), expected);
        EXPECT_LE(error, n == n_max ? f32_max : few_max) << n << " rows";
        RecordProperty("nmse_" + std::to_string(n), fmt::format("{:.1e}", error));
    }
}

INSTANTIATE_TEST_SUITE_P(
    Types, Product,
    ::testing::Values(ProductCase{Dtype::f32, 256, f32_max}, ProductCase{Dtype::f16, 256, f32_max},
                      ProductCase{Dtype::f16, 20, f32_max}, ProductCase{Dtype::bf16, 256, f32_max},
                      ProductCase{Dtype::q8_0, 256, 1e-4}, ProductCase{Dtype::q6_k, 256, 1e-4},
                      ProductCase{Dtype::q5_k, 256, 1e-4}, ProductCase{Dtype::q4_k, 256, 1e-4},
                      ProductCase{Dtype::q5_0, 96, 1e-4}, ProductCase{Dtype::q5_1, 96, 1e-4},
                      ProductCase{Dtype::q4_0, 96, 1e-4}, ProductCase{Dtype::q4_1, 96, 1e-4}));

}  // namespace

}  // namespace transcribe::test
