// The pre-LN transformer of encoder-decoder families (Vaswani et al. 2017; norm first).
#pragma once

#include "nn/attention.h"
#include "nn/norm.h"

namespace transcribe {

struct TransformerSpec {
    int n_layers = 0, n_heads = 0;
    i64 d = 0, d_ff = 0;
};

// x -> W2 gelu(W1 x + b1) + b2
struct Mlp {
    Linear fc1, fc2;

    void bind(Scope s, i64 d, i64 d_ff);
    // [d, n...] -> [d, n...]
    Tensor operator()(Tensor x) const;
};

struct EncoderBlock {
    LayerNorm norm_attn, norm_ffn;
    Attention attn;
    Mlp ffn;

    void bind(Scope s, const TransformerSpec& c);
    // [d, T, B] -> [d, T, B]
    Tensor operator()(Tensor x) const;
};

struct DecoderBlock {
    LayerNorm norm_self, norm_cross, norm_ffn;
    Attention self_attn, cross_attn;
    Mlp ffn;

    void bind(Scope s, const TransformerSpec& c);
    // In two halves, so that a look at cross attention fits between: tokens see what was said, then
    // what was heard. [d, T * B] -> [d, T * B]
    Tensor see_tokens(Tensor x, KvLayer cache, const StepInputs& in) const;
    Tensor see_memory(Tensor x, KvLayer memory) const;
};

}  // namespace transcribe
