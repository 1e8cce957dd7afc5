#include "nn/attention.h"

#include <cmath>

#include <ggml.h>

#include "nn/host_ops.h"

namespace transcribe {

namespace {

// q [dh, T, H, B], k, v [dh, S, Hk, B]. Products of F16 keys are summed in F32.
Tensor plain(Tensor q, KvLayer kv, Tensor mask, float scale) {
    ggml_context* ctx = q.g->ctx;
    ggml_tensor* scores = ggml_mul_mat(ctx, kv.k.t, q.t);  // [S, T, H, B]
    ggml_mul_mat_set_prec(scores, GGML_PREC_F32);
    ggml_tensor* probs = ggml_soft_max_ext(ctx, scores, mask.t, scale, 0);   // [S, T, H, B]
    ggml_tensor* v = ggml_cont(ctx, ggml_permute(ctx, kv.v.t, 1, 0, 2, 3));  // [S, dh, Hk, B]
    ggml_tensor* out = ggml_mul_mat(ctx, v, probs);                          // [dh, T, H, B]
    return {ggml_cont(ctx, ggml_permute(ctx, out, 0, 2, 1, 3)), q.g};        // [dh, H, T, B]
}

Tensor flash(Tensor q, KvLayer kv, Tensor mask, float scale) {
    ggml_tensor* out = ggml_flash_attn_ext(q.g->ctx, q.t, kv.k.t, kv.v.t, mask.t, scale, 0, 0);
    ggml_flash_attn_ext_set_prec(out, GGML_PREC_F32);
    return {out, q.g};  // [dh, H, T, B]
}

// x [dh, T, H, 1] -> F32 [dh, T]. (A product with F16 would round the other side to F16 as well.)
ggml_tensor* one_head(Tensor x, int head) {
    size_t offset = x.t->nb[2] * static_cast<size_t>(head);
    ggml_tensor* own = ggml_view_2d(x.g->ctx, x.t, x.dim(0), x.dim(1), x.t->nb[1], offset);
    return own->type == GGML_TYPE_F32 ? own : ggml_cast(x.g->ctx, own, GGML_TYPE_F32);
}

}  // namespace

Tensor sdpa(Tensor q, KvLayer kv, Tensor mask, int n_heads) {
    i64 d = q.dim(0), n = q.dim(1), n_batch = q.dim(2);
    int n_kv_heads = static_cast<int>(kv.k.dim(0) * n_heads / d);
    float scale = 1.0f / std::sqrt(static_cast<float>(d / n_heads));
    if (q.g->on_cpu && q.g->flash && host_attention_fits(q, kv, n_heads)) {
        return host_attention(q, kv, mask, n_heads);
    }
    Tensor qh = split_heads(q, n_heads);  // [dh, T, H, B]
    KvLayer kvh{split_heads(kv.k, n_kv_heads), split_heads(kv.v, n_kv_heads)};
    Tensor out = q.g->flash ? flash(qh, kvh, mask, scale) : plain(qh, kvh, mask, scale);
    return reshape(out, {d, n, n_batch});
}

void Attention::bind(Scope s, const AttnSpec& wanted) {
    spec = wanted;
    wq.bind(s / "q", spec.d, spec.d);
    wk.bind(s / "k", spec.d, spec.d, Bias::none);
    wv.bind(s / "v", spec.d, spec.d);
    wo.bind(s / "out", spec.d, spec.d);
}

Tensor Attention::over_itself(Tensor x) const {
    return wo(sdpa(wq(x), {wk(x), wv(x)}, {}, spec.n_heads));
}

Tensor Attention::over_cache(Tensor x, KvLayer cache, const StepInputs& in) const {
    auto [n, n_batch, n_slots, n_picks] = in.shape;
    Shape by_row{spec.d, n, n_batch};
    KvLayer now = cache.write(reshape(wk(x), by_row), reshape(wv(x), by_row), in.slots);
    Tensor y = sdpa(reshape(wq(x), by_row), now.first(n_slots), in.mask, spec.n_heads);
    return wo(reshape(y, {spec.d, x.dim(1)}));
}

Tensor Attention::over_memory(Tensor x, KvLayer memory) const {
    i64 n = x.dim(1), n_recordings = memory.k.dim(2);
    Tensor q = reshape(wq(x), {spec.d, n / n_recordings, n_recordings});
    return wo(reshape(sdpa(q, memory, {}, spec.n_heads), {spec.d, n}));
}

std::vector<Tensor> Attention::scores_over_memory(Tensor x, KvLayer memory,
                                                  std::span<const int> heads) const {
    float scale = 1.0f / std::sqrt(static_cast<float>(spec.d / spec.n_heads));
    Tensor q = split_heads(reshape(wq(x), {spec.d, x.dim(1), 1}), spec.n_heads);
    Tensor k = split_heads(memory.k, spec.n_heads);
    std::vector<Tensor> scores;
    for (int head : heads) {
        Tensor own{ggml_mul_mat(x.g->ctx, one_head(k, head), one_head(q, head)), x.g};
        ggml_mul_mat_set_prec(own.t, GGML_PREC_F32);
        scores.push_back(scale * own);
    }
    return scores;
}

KvLayer Attention::memory_of(Tensor encoded) const {
    return {wk(encoded), wv(encoded)};
}

}  // namespace transcribe
