// Layers over padded rows of frames against naive loops in double: our own kernels, and ggml's
// functions in their place on other devices.
#include "nn/frames.h"

#include <cmath>

#include "nn.h"

namespace transcribe::test {

namespace {

constexpr double nmse_max = 1e-11;

double sigmoid(double x) {
    return 1 / (1 + std::exp(-x));
}

// Rows of 0 and 1: the first frames of each row are its own.
std::vector<float> seen_of(const std::vector<i64>& lengths, i64 n) {
    std::vector<float> out;
    for (i64 length : lengths) {
        for (i64 t = 0; t < n; t++) out.push_back(t < length ? 1 : 0);
    }
    return out;
}

// Leaves the frames that are a row's own: x [n_frame, T, B].
template <class T>
std::vector<T> own_frames(const std::vector<T>& x, i64 n_frame, i64 n,
                          const std::vector<i64>& lengths) {
    std::vector<T> out;
    for (size_t b = 0; b < lengths.size(); b++) {
        auto from = x.begin() + static_cast<i64>(b) * n * n_frame;
        out.insert(out.end(), from, from + lengths[b] * n_frame);
    }
    return out;
}

struct Halve {
    i64 n_channels, n_in, width, n;
    std::vector<i64> lengths;
};

std::vector<double> halved_plainly(const Halve& s, const std::vector<float>& x,
                                   const std::vector<float>& w, const std::vector<float>& bias) {
    i64 n_out = (s.n + 1) / 2, width_out = (s.width + 1) / 2;
    std::vector<double> out;
    for (i64 at = 0; at < static_cast<i64>(s.lengths.size()) * n_out * width_out * s.n_channels;
         at++) {
        i64 c = at % s.n_channels, f = at / s.n_channels % width_out;
        i64 t = at / s.n_channels / width_out % n_out, b = at / s.n_channels / width_out / n_out;
        double sum = bias[static_cast<size_t>(c)];
        for (i64 k = 0; k < 9; k++) {
            i64 row = 2 * t - 1 + k / 3, column = 2 * f - 1 + k % 3;
            bool there = row >= 0 && row < s.lengths[static_cast<size_t>(b)] && column >= 0 &&
                         column < s.width;
            if (!there) continue;
            i64 from = ((b * s.n + row) * s.width + column) * s.n_in + (s.n_in > 1 ? c : 0);
            sum += static_cast<double>(x[static_cast<size_t>(from)]) *
                   w[static_cast<size_t>(c * 9 + k)];
        }
        out.push_back(std::max(sum, 0.0));
    }
    return out;
}

void check_halving(const Halve& s) {
    auto n_rows = static_cast<i64>(s.lengths.size());
    std::vector<float> w = random_values(9 * s.n_channels, 1), b = random_values(s.n_channels, 2);
    std::vector<float> x = random_values(s.n_in * s.width * s.n * n_rows, 3);
    std::vector<float> seen = seen_of(s.lengths, s.n);
    std::vector<i64> own;
    for (i64 length : s.lengths) own.push_back((length + 1) / 2);
    i64 width_out = (s.width + 1) / 2, n_frame = width_out * s.n_channels;
    auto wanted = own_frames(halved_plainly(s, x, w, b), n_frame, (s.n + 1) / 2, own);
    Weights weights(file_of({{"weight", Dtype::f32, {3, 3, 1, s.n_channels}, w},
                             {"bias", Dtype::f32, {s.n_channels}, b}}));
    HalvingConv conv;
    conv.bind(weights.root(), s.n_channels);
    finish(weights);
    for (bool ours : {true, false}) {
        Machine m;
        Graph& g = m.compute->begin();
        g.on_cpu = ours;
        Tensor xt = g.input("x", Dtype::f32, {s.n_in, s.width, s.n, n_rows});
        Tensor seen_t = g.input("seen", Dtype::f32, {1, s.n, n_rows});
        Tensor y = g.keep(conv(xt, seen_t, Activation::relu));
        y.is({s.n_channels, width_out, (s.n + 1) / 2, n_rows});
        auto got = own_frames(m.run(y, {{xt, x}, {seen_t, seen}}), n_frame, (s.n + 1) / 2, own);
        EXPECT_LE(nmse(got, wanted), nmse_max) << s.n_channels << " channels, ours " << ours;
    }
}

TEST(HalvingConv, OfOneChannelAndOfMany) {
    check_halving({35, 1, 12, 9, {9, 6, 1}});
    check_halving({35, 35, 7, 8, {8, 5, 2}});
    check_halving({64, 64, 1, 1, {1}});
}

TEST(GatedConv, EqualsItsPartsInTurn) {
    constexpr i64 n_channels = 37, n = 11, n_taps = 5;
    const std::vector<i64> lengths = {11, 7, 1};
    constexpr i64 n_rows = 3;
    auto vector = [&](unsigned seed) { return random_values(n_channels, seed); };
    std::vector<float> w = random_values(n_channels * n_taps, 1), b = vector(2), scale = vector(3);
    std::vector<float> shift = vector(4), mean = vector(5), var = vector(6);
    for (float& v : var) v = v * v + 0.1f;
    std::vector<float> x = random_values(2 * n_channels * n * n_rows, 7),
                       seen = seen_of(lengths, n);
    std::vector<double> plain;
    for (i64 at = 0; at < n_rows * n * n_channels; at++) {
        i64 c = at % n_channels, t = at / n_channels % n, row = at / n_channels / n;
        auto i = static_cast<size_t>(c);
        double sum = b[i];
        for (i64 k = 0; k < n_taps; k++) {
            i64 from = t + k - n_taps / 2;
            if (from < 0 || from >= lengths[static_cast<size_t>(row)]) continue;
            auto value = static_cast<size_t>((row * n + from) * 2 * n_channels + c);
            sum +=
                w[static_cast<size_t>(c * n_taps + k)] * x[value] * sigmoid(x[value + n_channels]);
        }
        double y = (sum - mean[i]) / std::sqrt(var[i] + 1e-5) * scale[i] + shift[i];
        plain.push_back(y * sigmoid(y));
    }
    auto wanted = own_frames(plain, n_channels, n, lengths);
    Weights weights(file_of({{"depthwise.weight", Dtype::f32, {n_taps, 1, n_channels}, w},
                             {"depthwise.bias", Dtype::f32, {n_channels}, b},
                             {"bn.weight", Dtype::f32, {n_channels}, scale},
                             {"bn.bias", Dtype::f32, {n_channels}, shift},
                             {"bn.running_mean", Dtype::f32, {n_channels}, mean},
                             {"bn.running_var", Dtype::f32, {n_channels}, var}}));
    GatedConv conv;
    conv.bind(weights.root(), n_channels, n_taps);
    finish(weights);
    for (bool ours : {true, false}) {
        Machine m;
        Graph& g = m.compute->begin();
        g.on_cpu = ours;
        Tensor xt = g.input("x", Dtype::f32, {2 * n_channels, n, n_rows});
        Tensor seen_t = g.input("seen", Dtype::f32, {1, n, n_rows});
        Tensor y = g.keep(conv(xt, seen_t));
        auto got = own_frames(m.run(y, {{xt, x}, {seen_t, seen}}), n_channels, n, lengths);
        EXPECT_LE(nmse(got, wanted), nmse_max) << "ours " << ours;
    }
}

// Attention whose projections are the identity, so that only it remains.
struct Relative {
    i64 d, n;
    int n_heads;
    std::vector<i64> lengths;
};

std::vector<double> relative_plainly(const Relative& s, const std::vector<float>& x,
                                     const std::vector<float>& table, const std::vector<float>& u,
                                     const std::vector<float>& v) {
    std::vector<double> out(x.size(), 0.0);
    i64 dh = s.d / s.n_heads;
    auto at = [](const std::vector<float>& a, i64 i) {
        return static_cast<double>(a[static_cast<size_t>(i)]);
    };
    for (i64 i = 0; i < static_cast<i64>(x.size()) / dh; i++) {
        i64 head = i % s.n_heads, t = i / s.n_heads % s.n, b = i / s.n_heads / s.n;
        i64 n_keys = s.lengths[static_cast<size_t>(b)];
        std::vector<double> p;
        double sum = 0;
        for (i64 key = 0; key < n_keys; key++) {
            i64 k = ((b * s.n + key) * s.n_heads + head) * dh;
            i64 position = (s.n - 1 - t + key) * s.d + head * dh;
            double score = 0;
            for (i64 c = 0; c < dh; c++) {
                double q = at(x, i * dh + c);
                score += (q + at(u, head * dh + c)) * at(x, k + c) +
                         (q + at(v, head * dh + c)) * at(table, position + c);
            }
            p.push_back(std::exp(score / std::sqrt(static_cast<double>(dh))));
            sum += p.back();
        }
        for (i64 key = 0; key < n_keys; key++) {
            i64 k = ((b * s.n + key) * s.n_heads + head) * dh;
            for (i64 c = 0; c < dh; c++) {
                out[static_cast<size_t>(i * dh + c)] +=
                    p[static_cast<size_t>(key)] / sum * at(x, k + c);
            }
        }
    }
    return out;
}

void check_relative(const Relative& s) {
    auto n_rows = static_cast<i64>(s.lengths.size());
    std::vector<float> identity(static_cast<size_t>(s.d * s.d), 0.0f);
    for (i64 i = 0; i < s.d; i++) identity[static_cast<size_t>(i * s.d + i)] = 1;
    std::vector<float> zeros(static_cast<size_t>(s.d), 0.0f);
    std::vector<float> u = random_values(s.d, 1), v = random_values(s.d, 2);
    std::vector<float> x = random_values(s.d * s.n * n_rows, 3);
    std::vector<float> table = random_values(s.d * (2 * s.n - 1), 4),
                       seen = seen_of(s.lengths, s.n);
    std::vector<Stored> stored = {{"pos_bias_u", Dtype::f32, {s.d / s.n_heads, s.n_heads}, u},
                                  {"pos_bias_v", Dtype::f32, {s.d / s.n_heads, s.n_heads}, v}};
    for (std::string name : {"linear_q", "linear_k", "linear_v", "linear_out", "linear_pos"}) {
        stored.push_back({name + ".weight", Dtype::f32, {s.d, s.d}, identity});
        if (name != "linear_pos") stored.push_back({name + ".bias", Dtype::f32, {s.d}, zeros});
    }
    Weights weights(file_of(stored));
    RelativeAttention attention;
    attention.bind(weights.root(), s.d, s.n_heads);
    finish(weights);
    auto wanted = own_frames(relative_plainly(s, x, table, u, v), s.d, s.n, s.lengths);
    for (bool ours : {true, false}) {
        Machine m;
        Graph& g = m.compute->begin();
        g.flash = ours;
        Tensor xt = g.input("x", Dtype::f32, {s.d, s.n, n_rows});
        Tensor positions = g.input("positions", Dtype::f32, {s.d, 2 * s.n - 1});
        Tensor seen_t = g.input("seen", Dtype::f32, {1, s.n, n_rows});
        Tensor y = g.keep(attention(xt, positions, seen_t));
        auto got = m.run(y, {{xt, x}, {positions, table}, {seen_t, seen}});
        EXPECT_LE(nmse(own_frames(got, s.d, s.n, s.lengths), wanted), nmse_max)
            << s.n << " frames, ours " << ours;
    }
}

TEST(RelativeAttention, OfAnyLengthAndHead) {
    check_relative({24, 70, 3, {70, 41, 1}});
    check_relative({32, 1, 2, {1}});
    check_relative({64, 133, 1, {100, 133}});
    check_relative({10, 25, 2, {25}});
}

TEST(RelativePositions, AreSinesAndCosinesFromTheFarthestOn) {
    std::vector<float> table = relative_positions(4, 3);
    ASSERT_EQ(table.size(), 4u * 5);
    for (i64 row = 0; row < 5; row++) {
        auto position = static_cast<double>(2 - row);
        const float* at = &table[static_cast<size_t>(4 * row)];
        EXPECT_NEAR(at[0], std::sin(position), 1e-6);
        EXPECT_NEAR(at[1], std::cos(position), 1e-6);
        EXPECT_NEAR(at[2], std::sin(position / 100), 1e-6);
        EXPECT_NEAR(at[3], std::cos(position / 100), 1e-6);
    }
}

}  // namespace

}  // namespace transcribe::test
