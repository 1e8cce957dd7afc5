// The causal language model of the Llama and Qwen lineage (Touvron et al. 2023; transformers,
// modeling_llama.py and modeling_qwen3.py): RMS norm before each half of a layer, rotary positions,
// grouped heads, gated feed-forward.
//
// Gate and up stay where the file is mapped: packing them would take a second copy and gains
// nothing, since each weight is read once in any case.
#pragma once

#include <vector>

#include "nn/linear.h"
#include "nn/norm.h"
#include "nn/rope.h"
#include "nn/step.h"
#include "tensor/kv.h"

namespace transcribe {

struct CausalLmSpec {
    int n_layers = 0, n_heads = 0, n_kv_heads = 0;
    i64 d = 0, d_head = 0;  // n_heads * d_head need not be d
    i64 d_ff = 0, n_vocab = 0;
    float eps = 1e-6f;
    float rope_theta = 1e4f;
    float ffn_scale = 1;   // of what the feed-forward half adds
    bool qk_norm = false;  // queries and keys are normalized head by head, before they turn
    bool tied = true;      // the head is the embedding
    i64 d_kv() const { return n_kv_heads * d_head; }
};

struct CausalLm {
    struct Attention {
        Linear wq, wk, wv, wo;
        RmsNorm q_norm, k_norm;  // without a weight where the family has none
        int n_heads = 0;

        void bind(Scope s, const CausalLmSpec& c);
        // x [d, T * B] -> [d, T * B]
        Tensor operator()(Tensor x, const Rope& rope, KvLayer cache, const StepInputs& in) const;
    };
    struct FeedForward {
        Linear gate, up, down;
        float scale = 1;

        void bind(Scope s, const CausalLmSpec& c);
        // down(silu(gate(x)) * up(x)) * scale: [d, n] -> [d, n]
        Tensor operator()(Tensor x) const;
    };
    struct Layer {
        RmsNorm norm_attn, norm_ffn;
        Attention attn;
        FeedForward ffn;
    };

    CausalLmSpec spec;
    Weight token_embd;  // [d, V]
    std::vector<Layer> layers;
    RmsNorm norm;
    Weight head;  // [d, V]

    void bind(Scope s, const CausalLmSpec& c);
    // i32 [n] -> [d, n]
    Tensor embed(Tensor ids) const { return rows(token_embd, ids); }
    // Embedded tokens or what takes their place, x [d, T * B], behind what `rows` of the cache hold
    // -> logits [V, P] of the picked ones. Behind the last attention only those go on.
    Tensor operator()(Tensor x, const StepInputs& in, const KvCache& cache,
                      KvCache::Rows rows) const;
};

// Rows of the sources, text [d, n] and behind them others [d, m], in the order of `from` i32 [k]
// -> [d, k]. So audio takes the place of a token, at any place, row by row.
Tensor splice(Tensor text, Tensor others, Tensor from);

}  // namespace transcribe
