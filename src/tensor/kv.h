// Keys and values of attention, one pair of tensors a layer: no flat buffer, no byte offsets.
// The cache of a decoder's own tokens and the memory of an encoder are the same type.
#pragma once

#include <vector>

#include "tensor/compute.h"

namespace transcribe {

// A layer as seen after the writes that made it.
struct KvLayer {
    Tensor k, v;  // [d_kv, n_ctx, B]
    // k, v [d_kv, T, B] into the rows that slots i64 [T, B] names. Reading what comes back is an
    // edge of the graph: the read cannot run before the write.
    KvLayer write(Tensor k_new, Tensor v_new, Tensor slots) const;
    // The first S slots: [d_kv, S, B].
    KvLayer first(i64 n_slots) const;
};

class KvCache {
  public:
    struct Sizes {
        int n_layers;
        i64 d_kv;
        int n_ctx;
        int n_rows;
        Dtype dtype;
    };
    static Expected<KvCache> make(Compute&, const Sizes&);
    struct Rows {
        int first, n;
    };
    // [d_kv, n_ctx, n] of some rows.
    KvLayer layer(Graph&, int i, Rows rows) const;
    // Stores all slots of some rows of a layer: k, v [d_kv, n_ctx, n].
    void store(KvLayer values, int i, Rows rows) const;
    // The first slots of row `from` become those of row `to`, at once and not as part of a graph.
    void copy_row(int from, int to, int n_slots) const;
    // A cache of as many rows with other room, in which the first `n_kept` slots of each row are
    // what they are here. Errors: out_of_memory.
    Expected<KvCache> resized(Compute&, int n_ctx, int n_kept) const;
    const Sizes& sizes() const { return sizes_; }
    size_t n_bytes() const { return held_.n_bytes(); }

  private:
    void copy_slots(int from, const KvCache& other, int to, int n_slots) const;
    KvCache(Held held, const Sizes& sizes) : held_(std::move(held)), sizes_(sizes) {}
    Held held_;
    Sizes sizes_;
};

}  // namespace transcribe
