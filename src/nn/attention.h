// Multi-head attention (Vaswani et al. 2017). One shape of everything: T tokens a row, B rows, S
// slots.
#pragma once

#include "nn/linear.h"
#include "nn/step.h"
#include "tensor/kv.h"

namespace transcribe {

// softmax(k^T q * scale + mask) v: q [d, T, B], k and v [d_kv, S, B], mask f16 [S, T, 1, B] or
// empty
// -> [d, T, B]. The only place that chooses flash or plain attention.
Tensor sdpa(Tensor q, KvLayer kv, Tensor mask, int n_heads);

struct AttnSpec {
    int n_heads;
    i64 d;
};

struct Attention {
    AttnSpec spec{};
    Linear wq, wk, wv, wo;

    // Whisper's layout: q, v and out have biases, k has none.
    void bind(Scope s, const AttnSpec& spec);
    // Every frame sees every frame: x [d, T, B] -> [d, T, B].
    Tensor over_itself(Tensor x) const;
    // Cached tokens and its own: x [d, T * B] -> [d, T * B].
    Tensor over_cache(Tensor x, KvLayer cache, const StepInputs&) const;
    // An encoder's keys and values, [d, S, A] for A recordings: x [d, T * B] -> [d, T * B]. Rows of
    // one recording lie together, so B / A rows share its memory and are just more queries.
    Tensor over_memory(Tensor x, KvLayer memory) const;
    // What over_memory weighs one recording's slots by, before the softmax, for some heads: x [d,
    // T], memory [d, S, 1] -> [S, T] a head.
    std::vector<Tensor> scores_over_memory(Tensor x, KvLayer memory,
                                           std::span<const int> heads) const;
    // What over_memory reads, from encoder output [d, T, B].
    KvLayer memory_of(Tensor encoded) const;
};

}  // namespace transcribe
