#include "nn/host_ops.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include <ggml.h>

#include "base/check.h"
#include "kernels/attention.h"
#include "kernels/product.h"

namespace transcribe {

namespace {

size_t count(i64 n) {
    return static_cast<size_t>(n);
}

kernels::Stored stored(const ggml_tensor* t) {
    switch (t->type) {
        case GGML_TYPE_F32: return kernels::Stored::f32;
        case GGML_TYPE_F16: return kernels::Stored::f16;
        case GGML_TYPE_BF16: return kernels::Stored::bf16;
        default: throw Bug("a host operation got a type that it does not know");
    }
}

bool is_known(const ggml_tensor* t) {
    return t->type == GGML_TYPE_F32 || t->type == GGML_TYPE_F16 || t->type == GGML_TYPE_BF16;
}

const float* floats(const ggml_tensor* t, size_t offset = 0) {
    return reinterpret_cast<const float*>(static_cast<const char*>(t->data) + offset);
}

// A small number that a node carries along.
void* carried(int n) {
    return reinterpret_cast<void*>(static_cast<std::intptr_t>(n));
}
int number_in(void* user) {
    return static_cast<int>(reinterpret_cast<std::intptr_t>(user));
}

// Sources: w, x, bias where there is one.
void run_product(ggml_tensor* dst, int ith, int nth, void* user) {
    const ggml_tensor *w = dst->src[0], *x = dst->src[1], *bias = dst->src[2];
    kernels::Product p{
        .w = {w->data, stored(w), w->nb[1]},
        .x = nullptr,
        .x_stride = x->nb[1] / sizeof(float),
        .y = nullptr,
        .y_stride = dst->nb[1] / sizeof(float),
        .n_in = count(w->ne[0]),
        .n_out = count(w->ne[1]),
        .n_rows = count(x->ne[1]),
        .bias = bias ? floats(bias) : nullptr,
        .gelu = number_in(user) == static_cast<int>(Activation::gelu),
    };
    for (i64 i = 0; i < x->ne[2] * x->ne[3]; i++) {
        size_t i2 = count(i % x->ne[2]), i3 = count(i / x->ne[2]);
        p.x = floats(x, i2 * x->nb[2] + i3 * x->nb[3]);
        p.y = const_cast<float*>(floats(dst, i2 * dst->nb[2] + i3 * dst->nb[3]));
        kernels::product(p, count(ith), count(nth));
    }
}

// Sources: q, k, v, mask where there is one.
void run_attention(ggml_tensor* dst, int ith, int nth, void* user) {
    const ggml_tensor *q = dst->src[0], *k = dst->src[1], *v = dst->src[2], *mask = dst->src[3];
    size_t n_heads = count(number_in(user)), d_head = count(q->ne[0]) / n_heads;
    kernels::Attention a{
        .q = floats(q),
        .k = {k->data, stored(k), k->nb[1], k->nb[2]},
        .v = {v->data, stored(v), v->nb[1], v->nb[2]},
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
    };
    kernels::attention(a, count(ith), count(nth));
}

}  // namespace

Tensor host_product(Tensor w, Tensor x, Weight bias, Activation activation) {
    CHECK(is_known(w.t) && w.dim(0) == x.dim(0));
    CHECK(x.t->type == GGML_TYPE_F32 && x.t->nb[0] == sizeof(float));
    std::vector<ggml_tensor*> args{w.t, x.t};
    if (bias) args.push_back(bias.t);
    return {ggml_custom_4d(x.g->ctx, GGML_TYPE_F32, w.dim(1), x.dim(1), x.dim(2), x.dim(3),
                           args.data(), static_cast<int>(args.size()), run_product,
                           GGML_N_TASKS_MAX, carried(static_cast<int>(activation))),
            x.g};
}

bool host_attention_fits(Tensor q, KvLayer kv, int n_heads) {
    return is_known(kv.k.t) && kv.k.t->type == kv.v.t->type && q.t->type == GGML_TYPE_F32 &&
           kernels::attention_fits(count(q.dim(0) / n_heads));
}

Tensor host_attention(Tensor q, KvLayer kv, Tensor mask, int n_heads) {
    CHECK(ggml_is_contiguous(q.t) && (!mask || mask.t->type == GGML_TYPE_F16));
    std::vector<ggml_tensor*> args{q.t, kv.k.t, kv.v.t};
    if (mask) args.push_back(mask.t);
    return {ggml_custom_4d(q.g->ctx, GGML_TYPE_F32, q.dim(0), q.dim(1), q.dim(2), 1, args.data(),
                           static_cast<int>(args.size()), run_attention, GGML_N_TASKS_MAX,
                           carried(n_heads)),
            q.g};
}

}  // namespace transcribe
