#include "nn/host_frames.h"

#include <cmath>

#include "base/check.h"
#include "kernels/attention.h"
#include "kernels/frames.h"
#include "nn/host_node.h"

namespace transcribe {

namespace {

// How many frames of each row are its own: the ones of seen [1, T, B], which come first.
std::vector<std::int32_t> lengths_of(const ggml_tensor* seen) {
    const size_t n_frames = count(seen->ne[1]), n_rows = count(seen->ne[2]);
    std::vector<std::int32_t> lengths(n_rows);
    for (size_t row = 0; row < n_rows; row++) {
        const float* own = floats(seen) + row * n_frames;
        lengths[row] = static_cast<std::int32_t>(std::count(own, own + n_frames, 1.0f));
    }
    return lengths;
}

// Sources: w, bias, x, seen.
void run_halving(ggml_tensor* dst, int, int, void* user) {
    const ggml_tensor *w = dst->src[0], *x = dst->src[2];
    auto lengths = lengths_of(dst->src[3]);
    kernels::Halving c{
        .x = floats(x),
        .w = floats(w),
        .bias = floats(dst->src[1]),
        .y = static_cast<float*>(dst->data),
        .lengths = lengths.data(),
        .n_channels = count(w->ne[0]),
        .n_width = count(x->ne[1]),
        .n_frames = count(x->ne[2]),
        .n_batch = count(x->ne[3]),
        .one_channel = x->ne[0] == 1,
        .relu = static_cast<Activation>(carried(user).number) == Activation::relu,
    };
    size_t cost = 9 * count(ggml_nelements(dst));
    share_out(carried(user), cost, [&](size_t i, size_t n) { kernels::halving(c, i, n); });
}

// Sources: w, bias, x, seen.
void run_gated_conv(ggml_tensor* dst, int, int, void* user) {
    const ggml_tensor *w = dst->src[0], *x = dst->src[2];
    auto lengths = lengths_of(dst->src[3]);
    kernels::GatedConv c{
        .x = floats(x),
        .w = floats(w),
        .bias = floats(dst->src[1]),
        .y = static_cast<float*>(dst->data),
        .lengths = lengths.data(),
        .n_channels = count(w->ne[0]),
        .n_taps = count(w->ne[1]),
        .n_frames = count(x->ne[1]),
        .n_batch = count(x->ne[2]),
    };
    size_t cost = (16 + c.n_taps) * count(ggml_nelements(dst));
    share_out(carried(user), cost, [&](size_t i, size_t n) { kernels::gated_conv(c, i, n); });
}

// Sources: q, k, v, table, to_keys, to_positions, seen.
void run_relative_attention(ggml_tensor* dst, int, int, void* user) {
    const ggml_tensor *q = dst->src[0], *k = dst->src[1], *v = dst->src[2];
    auto n_keys_of = lengths_of(dst->src[6]);
    kernels::Positions positions{floats(dst->src[3]), floats(dst->src[4]), floats(dst->src[5])};
    size_t n_heads = count(carried(user).number), d_head = count(q->ne[0]) / n_heads;
    kernels::Attention a{
        .q = floats(q),
        .k = {k->data, kernels::Stored::f32, k->nb[1], k->nb[2]},
        .v = {v->data, kernels::Stored::f32, v->nb[1], v->nb[2]},
        .mask = nullptr,
        .mask_stride = 0,
        .out = static_cast<float*>(dst->data),
        .d_head = d_head,
        .n_heads = n_heads,
        .n_kv_heads = n_heads,
        .n_queries = count(q->ne[1]),
        .n_keys = count(q->ne[1]),
        .n_batch = count(q->ne[2]),
        .scale = 1.0f / std::sqrt(static_cast<float>(d_head)),
        .positions = &positions,
        .n_keys_of = n_keys_of.data(),
        .rounding = carried(user).rounding,
    };
    size_t cost = 3 * a.n_queries * a.n_keys * count(q->ne[0]) * a.n_batch;
    share_out(carried(user), cost, [&](size_t i, size_t n) { kernels::attention(a, i, n); });
}

bool is_plain(Tensor x) {
    return x.t->type == GGML_TYPE_F32 && ggml_is_contiguous(x.t);
}

}  // namespace

Tensor host_halving(Weight w, Weight bias, Tensor x, Tensor seen, Activation f) {
    CHECK(is_plain(x) && (x.dim(0) == 1 || x.dim(0) == w.dim(0)));
    CHECK(f == Activation::none || f == Activation::relu);
    seen.is({1, x.dim(2), x.dim(3)});
    return host_node(*x.g, {w.dim(0), (x.dim(1) + 1) / 2, (x.dim(2) + 1) / 2, x.dim(3)},
                     {w.t, bias.t, x.t, seen.t}, run_halving, static_cast<int>(f));
}

Tensor host_gated_conv(Weight w, Weight bias, Tensor x, Tensor seen) {
    CHECK(is_plain(x) && x.dim(0) == 2 * w.dim(0));
    seen.is({1, x.dim(1), x.dim(2)});
    return host_node(*x.g, {w.dim(0), x.dim(1), x.dim(2)}, {w.t, bias.t, x.t, seen.t},
                     run_gated_conv);
}

Tensor host_relative_attention(const RelativeInputs& in, int n_heads) {
    Shape shape = shape_of(in.q);
    CHECK(is_plain(in.q) && is_plain(in.table));
    in.k.is(shape), in.v.is(shape);
    in.table.is({shape.ne[0], 2 * shape.ne[1] - 1});
    in.seen.is({1, shape.ne[1], shape.ne[2]});
    return host_node(
        *in.q.g, shape,
        {in.q.t, in.k.t, in.v.t, in.table.t, in.to_keys.t, in.to_positions.t, in.seen.t},
        run_relative_attention, n_heads);
}

}  // namespace transcribe
