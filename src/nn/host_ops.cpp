#include "nn/host_ops.h"

#include <cmath>
#include <vector>

#include <ggml.h>

#include "base/check.h"
#include "kernels/attention.h"
#include "kernels/product.h"
#include "kernels/rows.h"
#include "nn/host_node.h"
#include "nn/stored.h"
#include "tensor/cpu_functions.h"

namespace transcribe {

namespace {

bool is_known(const ggml_tensor* t) {
    return t->type == GGML_TYPE_F32 || t->type == GGML_TYPE_F16 || t->type == GGML_TYPE_BF16;
}

// Many rows are packed once for all shares, into memory that the calling thread keeps.
void pack_rows(kernels::Product& p, const Graph::Carried& node) {
    thread_local std::vector<float> packed;
    size_t n_floats = kernels::n_packed(p);
    if (packed.size() < n_floats) packed.resize(n_floats);
    float* to = packed.data();  // a helper that named `packed` would find its own
    p.packed = to;
    if (n_floats == 0) return;
    share_out(node, 4 * n_floats, [&](size_t i, size_t n) { kernels::pack_rows(p, to, i, n); });
}

// Sources: w, x, bias where there is one.
void run_product(ggml_tensor* dst, int, int, void* user) {
    const ggml_tensor *w = dst->src[0], *x = dst->src[1], *bias = dst->src[2];
    kernels::Product p{
        .w = matrix_of(*w),
        .x = nullptr,
        .x_stride = x->nb[1] / sizeof(float),
        .y = nullptr,
        .y_stride = dst->nb[1] / sizeof(float),
        .n_in = count(w->ne[0]),
        .n_out = count(w->ne[1]),
        .n_rows = count(x->ne[1]),
        .bias = bias ? floats(bias) : nullptr,
        .activation = static_cast<Activation>(carried(user).number),
        .panels = static_cast<const float*>(w->extra),
        .bf16 = carried(user).rounding == Rounding::bf16,
    };
    i64 n_batch = x->ne[2] * x->ne[3];
    if (ggml_is_contiguous(x)) {  // one product: weights are packed once
        p.n_rows *= count(n_batch);
        n_batch = 1;
    }
    size_t cost = p.n_in * p.n_out * p.n_rows;
    for (i64 batch = 0; batch < n_batch; batch++) {
        size_t i2 = count(batch % x->ne[2]), i3 = count(batch / x->ne[2]);
        p.x = floats(x, i2 * x->nb[2] + i3 * x->nb[3]);
        p.y = const_cast<float*>(floats(dst, i2 * dst->nb[2] + i3 * dst->nb[3]));
        pack_rows(p, carried(user));
        share_out(carried(user), cost, [&](size_t i, size_t n) { kernels::product(p, i, n); });
    }
}

// Sources: w quantized, x. As ggml does it: x is rounded to the type that the weights' dot product
// wants.
void run_quantized(ggml_tensor* dst, int, int, void* user) {
    const ggml_tensor *w = dst->src[0], *x = dst->src[1];
    const auto* of_w = cpu_functions().type_traits(w->type);
    const auto* of_x = cpu_functions().type_traits(of_w->vec_dot_type);
    size_t n_in = count(w->ne[0]), n_out = count(w->ne[1]), n_rows = count(ggml_nrows(x));
    size_t row_bytes = ggml_row_size(of_w->vec_dot_type, w->ne[0]);
    std::vector<std::byte> rounded(row_bytes * n_rows);
    for (size_t r = 0; r < n_rows; r++) {
        of_x->from_float(floats(x) + r * n_in, &rounded[r * row_bytes], w->ne[0]);
    }
    auto* y = static_cast<float*>(dst->data);
    share_out(carried(user), n_in * n_out * n_rows, [&](size_t i, size_t n) {
        for (size_t o = n_out * i / n; o < n_out * (i + 1) / n; o++) {
            const char* row = static_cast<const char*>(w->data) + o * w->nb[1];
            for (size_t r = 0; r < n_rows; r++) {
                of_w->vec_dot(static_cast<int>(n_in), y + r * n_out + o, 0, row, 0,
                              &rounded[r * row_bytes], 0, 1);
            }
        }
    });
}

// Sources: x, bias where there is one.
void run_activate(ggml_tensor* dst, int, int, void* user) {
    const ggml_tensor *x = dst->src[0], *bias = dst->src[1];
    size_t n = count(x->ne[0]), n_rows = count(ggml_nrows(x));
    auto* y = static_cast<float*>(dst->data);
    auto f = static_cast<Activation>(carried(user).number);
    share_out_rows(carried(user), n_rows, 16 * n, [&](size_t r) {
        kernels::activate(f, floats(x) + r * n, bias ? floats(bias) : nullptr, y + r * n, n);
    });
}

// Sources: x, weight, bias.
void run_layer_norm(ggml_tensor* dst, int, int, void* user) {
    const ggml_tensor* x = dst->src[0];
    size_t n = count(x->ne[0]), n_rows = count(ggml_nrows(x));
    kernels::LayerNorm norm{floats(dst->src[1]), floats(dst->src[2]), n, eps_of(user)};
    auto* y = static_cast<float*>(dst->data);
    share_out_rows(carried(user), n_rows, 8 * n,
                   [&](size_t r) { kernels::layer_norm(norm, floats(x) + r * n, y + r * n); });
}

// Sources: q, k, v, mask where there is one.
void run_attention(ggml_tensor* dst, int, int, void* user) {
    const ggml_tensor *q = dst->src[0], *k = dst->src[1], *v = dst->src[2], *mask = dst->src[3];
    size_t n_heads = count(carried(user).number), d_head = count(q->ne[0]) / n_heads;
    kernels::Attention a{
        .q = floats(q),
        .k = {k->data, stored(*k), k->nb[1], k->nb[2]},
        .v = {v->data, stored(*v), v->nb[1], v->nb[2]},
        .mask = mask ? static_cast<const std::uint16_t*>(mask->data) : nullptr,
        .mask_stride = mask ? mask->nb[1] / sizeof(std::uint16_t) : 0,
        .out = static_cast<float*>(dst->data),
        .d_head = d_head,
        .n_heads = n_heads,
        .n_kv_heads = count(k->ne[0]) / d_head,
        .n_queries = count(q->ne[1]),
        .n_keys = count(k->ne[1]),
        .n_batch = count(q->ne[2]),
        .scale = 1.0f / std::sqrt(static_cast<float>(d_head)),
        .rounding = carried(user).rounding,
    };
    size_t cost = a.n_queries * a.n_keys * count(q->ne[0]) * a.n_batch;
    share_out(carried(user), cost, [&](size_t i, size_t n) { kernels::attention(a, i, n); });
}

}  // namespace

Tensor host_product(Tensor w, Tensor x, Weight bias, Activation activation) {
    CHECK(w.dim(0) == x.dim(0));
    CHECK(is_known(w.t) || w.t->extra ||
          (ggml_is_contiguous(x.t) && ggml_nrows(x.t) >= n_rows_of_blocks));
    CHECK(x.t->type == GGML_TYPE_F32 && x.t->nb[0] == sizeof(float));
    std::vector<ggml_tensor*> sources{w.t, x.t};
    if (bias) sources.push_back(bias.t);
    return host_node(*x.g, {w.dim(1), x.dim(1), x.dim(2), x.dim(3)}, std::move(sources),
                     run_product, static_cast<int>(activation));
}

Tensor host_quantized_product(Weight w, Tensor x) {
    CHECK(ggml_is_contiguous(x.t) && w.dim(0) == x.dim(0));
    return host_node(*x.g, {w.dim(1), x.dim(1), x.dim(2), x.dim(3)}, {w.t, x.t}, run_quantized);
}

Tensor host_activate(Activation f, Tensor x, Weight bias) {
    CHECK(ggml_is_contiguous(x.t));
    std::vector<ggml_tensor*> sources{x.t};
    if (bias) sources.push_back(bias.t);
    return host_node(*x.g, shape_of(x), std::move(sources), run_activate, static_cast<int>(f));
}

Tensor host_layer_norm(Tensor x, Weight weight, Weight bias, float eps) {
    CHECK(ggml_is_contiguous(x.t));
    return host_node(*x.g, shape_of(x), {x.t, weight.t, bias.t}, run_layer_norm,
                     static_cast<int>(std::lround(eps / eps_unit)));
}

bool host_attention_fits(Tensor q, KvLayer kv, int n_heads) {
    return kv.k.t->type == kv.v.t->type && q.t->type == GGML_TYPE_F32 &&
           kernels::attention_fits(count(q.dim(0) / n_heads), stored(*kv.k.t));
}

Tensor host_attention(Tensor q, KvLayer kv, Tensor mask, int n_heads) {
    CHECK(ggml_is_contiguous(q.t) && (!mask || mask.t->type == GGML_TYPE_F16));
    std::vector<ggml_tensor*> sources{q.t, kv.k.t, kv.v.t};
    if (mask) sources.push_back(mask.t);
    return host_node(*q.g, {q.dim(0), q.dim(1), q.dim(2)}, std::move(sources), run_attention,
                     n_heads);
}

}  // namespace transcribe
