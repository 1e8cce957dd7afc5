#include "nn/frames.h"

#include <cmath>

#include <ggml.h>

#include "base/check.h"
#include "nn/host_frames.h"

namespace transcribe {

namespace {

using Sources = std::span<const std::vector<float>>;

// [n, C] -> [C, n]
void channel_fastest(std::span<const float> from, std::span<float> to, size_t n_channels) {
    size_t n = from.size() / n_channels;
    for (size_t i = 0; i < from.size(); i++) to[i % n * n_channels + i / n] = from[i];
}

// What batch norm multiplies each channel by. The order of sources is that of GatedConv::bind.
double norm_scale(Sources from, size_t channel) {
    constexpr double eps = 1e-5;
    return from[0][channel] / std::sqrt(from[1][channel] + eps);
}

ggml_tensor* permuted(ggml_context* ctx, ggml_tensor* t, std::array<int, 4> to) {
    return ggml_cont(ctx, ggml_permute(ctx, t, to[0], to[1], to[2], to[3]));
}

// A depthwise convolution by ggml: x [C, W, T, B], w [C, n_w, n_t], zeros around as for odd sizes.
ggml_tensor* depthwise(ggml_context* ctx, ggml_tensor* x, ggml_tensor* w, int stride) {
    ggml_tensor* kernel = permuted(ctx, w, {3, 0, 1, 2});    // [n_w, n_t, 1, C]
    ggml_tensor* by_width = permuted(ctx, x, {2, 0, 1, 3});  // [W, T, C, B]
    int pad_w = static_cast<int>(w->ne[1] / 2), pad_t = static_cast<int>(w->ne[2] / 2);
    ggml_tensor* y =
        ggml_conv_2d_dw_direct(ctx, kernel, by_width, stride, stride, pad_w, pad_t, 1, 1);
    return permuted(ctx, y, {1, 2, 0, 3});
}

Tensor plain_halving(Weight w, Weight b, Tensor x, Tensor seen, Activation f) {
    ggml_context* ctx = x.g->ctx;
    Tensor own = x * reshape(seen, {1, 1, x.dim(2), x.dim(3)});
    ggml_tensor* all = ggml_repeat_4d(ctx, own.t, w.dim(0), x.dim(1), x.dim(2), x.dim(3));
    Tensor y = Tensor{depthwise(ctx, all, w.t, 2), x.g} + b;
    return f == Activation::relu ? relu(y) : y;
}

Tensor plain_gated_conv(Weight w, Weight b, Tensor x, Tensor seen) {
    ggml_context* ctx = x.g->ctx;
    i64 n = w.dim(0), n_frames = x.dim(1), n_rows = x.dim(2);
    auto half = [&](size_t offset) {
        return ggml_cont(ctx, ggml_view_3d(ctx, x.t, n, n_frames, n_rows, x.t->nb[1], x.t->nb[2],
                                           offset * x.t->nb[0]));
    };
    ggml_tensor* gates = ggml_sigmoid(ctx, half(static_cast<size_t>(n)));
    Tensor gated = Tensor{ggml_mul(ctx, half(0), gates), x.g} * seen;
    ggml_tensor* as_image = ggml_reshape_4d(ctx, gated.t, n, 1, n_frames, n_rows);
    ggml_tensor* kernel = ggml_reshape_3d(ctx, w.t, n, 1, w.dim(1));
    Tensor y{depthwise(ctx, as_image, kernel, 1), x.g};
    Tensor sum = reshape(y, {n, n_frames, n_rows}) + b;
    return {ggml_silu(ctx, sum.t), x.g};
}

// [d, n...] -> [dh, n, H, B]
Tensor by_heads(Tensor x, int n_heads) {
    return {ggml_cont(x.g->ctx, split_heads(x, n_heads).t), x.g};
}

// Row i of `scores` [2 T - 1, T, H, B] from column T - 1 - i on: [T, T, H, B].
Tensor shifted(Tensor scores) {
    ggml_tensor* t = scores.t;
    i64 n = scores.dim(1);
    ggml_tensor* view =
        ggml_view_4d(scores.g->ctx, t, n, n, t->ne[2], t->ne[3], t->nb[1] - t->nb[0], t->nb[2],
                     t->nb[3], static_cast<size_t>(n - 1) * t->nb[0]);
    return {ggml_cont(scores.g->ctx, view), scores.g};
}

Tensor plain_relative_attention(const RelativeInputs& in, int n_heads) {
    Graph& g = *in.q.g;
    i64 d = in.q.dim(0), n = in.q.dim(1), n_rows = in.q.dim(2);
    Tensor q = by_heads(in.q, n_heads), k = by_heads(in.k, n_heads);
    auto with = [&](Weight bias) { return q + reshape(g.use(bias), {d / n_heads, 1, n_heads}); };
    auto product_of = [&](Tensor a, Tensor b) {
        Tensor y{ggml_mul_mat(g.ctx, a.t, b.t), &g};
        ggml_mul_mat_set_prec(y.t, GGML_PREC_F32);
        return y;
    };
    Tensor content = product_of(k, with(in.to_keys));  // [T, T, H, B]
    Tensor table = by_heads(in.table, n_heads);
    Tensor position = product_of(table, with(in.to_positions));  // [2 T - 1, T, H, B]
    constexpr float hidden = -1e9f;
    Tensor seen = reshape(in.seen, {n, 1, 1, n_rows});
    Tensor mask{ggml_scale_bias(g.ctx, seen.t, -hidden, hidden), &g};
    float scale = 1.0f / std::sqrt(static_cast<float>(d / n_heads));
    Tensor scores = scale * (content + shifted(position)) + mask;
    Tensor probs{ggml_soft_max(g.ctx, scores.t), &g};
    Tensor v{permuted(g.ctx, split_heads(in.v, n_heads).t, {1, 0, 2, 3}), &g};  // [T, dh, H, B]
    return reshape({permuted(g.ctx, product_of(v, probs).t, {0, 2, 1, 3}), &g}, {d, n, n_rows});
}

}  // namespace

void HalvingConv::bind(Scope s, i64 n_channels) {
    // A derived tensor has its first source's type, and the kernels want F32.
    Source bias{"bias", Role::vector, {n_channels}};
    w = s.derive({bias, {"weight", Role::kernel, {3, 3, 1, n_channels}}}, {n_channels, 3, 3},
                 [n_channels](Sources from, std::span<float> to) {
                     channel_fastest(from[1], to, static_cast<size_t>(n_channels));
                 });
    b = s.need("bias", Role::vector, {n_channels});
}

Tensor HalvingConv::operator()(Tensor x, Tensor seen, Activation f) const {
    return x.g->on_cpu ? host_halving(w, b, x, seen, f) : plain_halving(w, b, x, seen, f);
}

void GatedConv::bind(Scope s, i64 n_channels, int n_taps) {
    Source scale{"bn.weight", Role::vector, {n_channels}};
    Source variance{"bn.running_var", Role::vector, {n_channels}};
    w = s.derive({scale, variance, {"depthwise.weight", Role::kernel, {n_taps, 1, n_channels}}},
                 {n_channels, n_taps}, [n_channels](Sources from, std::span<float> to) {
                     auto n = static_cast<size_t>(n_channels);
                     channel_fastest(from[2], to, n);
                     for (size_t i = 0; i < to.size(); i++) {
                         to[i] = static_cast<float>(to[i] * norm_scale(from, i % n));
                     }
                 });
    b = s.derive({scale,
                  variance,
                  {"depthwise.bias", Role::vector, {n_channels}},
                  {"bn.running_mean", Role::vector, {n_channels}},
                  {"bn.bias", Role::vector, {n_channels}}},
                 {n_channels}, [](Sources from, std::span<float> to) {
                     for (size_t i = 0; i < to.size(); i++) {
                         double centered = static_cast<double>(from[2][i]) - from[3][i];
                         to[i] = static_cast<float>(centered * norm_scale(from, i) + from[4][i]);
                     }
                 });
}

Tensor GatedConv::operator()(Tensor x, Tensor seen) const {
    return x.g->on_cpu ? host_gated_conv(w, b, x, seen) : plain_gated_conv(w, b, x, seen);
}

void RelativeAttention::bind(Scope s, i64 d, int heads) {
    n_heads = heads;
    wq.bind(s / "linear_q", d, d);
    wk.bind(s / "linear_k", d, d);
    wv.bind(s / "linear_v", d, d);
    wo.bind(s / "linear_out", d, d);
    wpos.bind(s / "linear_pos", d, d, Bias::none);
    u = s.need("pos_bias_u", Role::vector, {d / heads, heads});
    v = s.need("pos_bias_v", Role::vector, {d / heads, heads});
}

Tensor RelativeAttention::operator()(Tensor x, Tensor positions, Tensor seen) const {
    RelativeInputs in{wq(x), wk(x), wv(x), wpos(positions), u, v, seen};
    bool host = x.g->on_cpu && x.g->flash;
    return wo(host ? host_relative_attention(in, n_heads) : plain_relative_attention(in, n_heads));
}

std::vector<float> relative_positions(i64 d, i64 n) {
    CHECK(d % 2 == 0 && n > 0);
    std::vector<float> out;
    out.reserve(static_cast<size_t>(d * (2 * n - 1)));
    for (i64 position = n - 1; position > -n; position--) {
        for (i64 k = 0; k < d; k += 2) {
            double rate =
                std::exp(-static_cast<double>(k) * std::log(1e4) / static_cast<double>(d));
            double angle = static_cast<double>(position) * rate;
            out.push_back(static_cast<float>(std::sin(angle)));
            out.push_back(static_cast<float>(std::cos(angle)));
        }
    }
    return out;
}

}  // namespace transcribe
