#include "tensor/kv.h"

#include <ggml-backend.h>

namespace transcribe {

namespace {

Tensor write_rows(Tensor cache, Tensor rows, Tensor slots) {
    // set_rows wants one index list a batch row: rows [d, T, B], slots [T, B]
    return {ggml_set_rows(cache.g->ctx, cache.t, rows.t, slots.t), cache.g};
}

Tensor first_slots(Tensor x, i64 n) {
    return {ggml_view_3d(x.g->ctx, x.t, x.dim(0), n, x.dim(2), x.t->nb[1], x.t->nb[2], 0), x.g};
}

Tensor some_rows(Tensor x, KvCache::Rows rows) {
    size_t offset = x.t->nb[2] * static_cast<size_t>(rows.first);
    return {ggml_view_3d(x.g->ctx, x.t, x.dim(0), x.dim(1), rows.n, x.t->nb[1], x.t->nb[2], offset),
            x.g};
}

}  // namespace

KvLayer KvLayer::write(Tensor k_new, Tensor v_new, Tensor slots) const {
    return {write_rows(k, k_new, slots), write_rows(v, v_new, slots)};
}

KvLayer KvLayer::first(i64 n_slots) const {
    return {first_slots(k, n_slots), first_slots(v, n_slots)};
}

Expected<KvCache> KvCache::make(Compute& compute, const Sizes& sizes) {
    std::vector<Shape> shapes(static_cast<size_t>(2 * sizes.n_layers),
                              {sizes.d_kv, sizes.n_ctx, sizes.n_rows});
    TRY_SET(Held held, compute.hold(sizes.dtype, shapes));
    return KvCache(std::move(held), sizes);
}

KvLayer KvCache::layer(Graph& g, int i, Rows rows) const {
    auto at = static_cast<size_t>(2 * i);
    return {some_rows(g.use(held_[at]), rows), some_rows(g.use(held_[at + 1]), rows)};
}

void KvCache::store(KvLayer values, int i, Rows rows) const {
    Graph& g = *values.k.g;
    KvLayer to = layer(g, i, rows);
    g.store(values.k, {to.k.t});
    g.store(values.v, {to.v.t});
}

void KvCache::copy_slots(int from, const KvCache& other, int to, int n_slots) const {
    std::vector<std::byte> slots;
    for (size_t i = 0; i < static_cast<size_t>(2 * sizes_.n_layers); i++) {
        ggml_tensor *source = held_[i].t, *target = other.held_[i].t;
        slots.resize(source->nb[1] * static_cast<size_t>(n_slots));
        ggml_backend_tensor_get(source, slots.data(), source->nb[2] * static_cast<size_t>(from),
                                slots.size());
        ggml_backend_tensor_set(target, slots.data(), target->nb[2] * static_cast<size_t>(to),
                                slots.size());
    }
}

void KvCache::copy_row(int from, int to, int n_slots) const {
    copy_slots(from, *this, to, n_slots);
}

Expected<KvCache> KvCache::resized(Compute& compute, int n_ctx, int n_kept) const {
    Sizes sizes = sizes_;
    sizes.n_ctx = n_ctx;
    TRY_SET(KvCache grown, make(compute, sizes));
    for (int row = 0; row < sizes.n_rows && n_kept > 0; row++) {
        copy_slots(row, grown, row, n_kept);
    }
    return grown;
}

}  // namespace transcribe
