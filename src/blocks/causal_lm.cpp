#include "blocks/causal_lm.h"

#include "nn/attention.h"

namespace transcribe {

void CausalLm::Attention::bind(Scope s, const CausalLmSpec& c) {
    n_heads = c.n_heads;
    wq.bind(s / "q", c.d, c.n_heads * c.d_head, Bias::none);
    wk.bind(s / "k", c.d, c.d_kv(), Bias::none);
    wv.bind(s / "v", c.d, c.d_kv(), Bias::none);
    wo.bind(s / "o", c.n_heads * c.d_head, c.d, Bias::none);
    if (!c.qk_norm) return;
    q_norm.bind(s / "q_norm", c.d_head, c.eps);
    k_norm.bind(s / "k_norm", c.d_head, c.eps);
}

Tensor CausalLm::Attention::operator()(Tensor x, const Rope& rope, KvLayer cache,
                                       const StepInputs& in) const {
    auto [n, n_rows, n_slots, n_picks] = in.shape;
    Tensor q = wq(x), k = wk(x), v = wv(x);  // [dh * H, T * B], [dh * Hk, T * B]
    if (q_norm.w) {
        q = q_norm(q);
        k = k_norm(k);
    }
    q = rope(q);
    k = rope(k);
    KvLayer now =
        cache.write(reshape(k, {k.dim(0), n, n_rows}), reshape(v, {v.dim(0), n, n_rows}), in.slots);
    Tensor y = sdpa(reshape(q, {q.dim(0), n, n_rows}), now.first(n_slots), in.mask, n_heads);
    return wo(reshape(y, {q.dim(0), x.dim(1)}));
}

void CausalLm::FeedForward::bind(Scope s, const CausalLmSpec& c) {
    gate.bind(s / "gate", c.d, c.d_ff, Bias::none);
    up.bind(s / "up", c.d, c.d_ff, Bias::none);
    down.bind(s / "down", c.d_ff, c.d, Bias::none);
    scale = c.ffn_scale;
}

Tensor CausalLm::FeedForward::operator()(Tensor x) const {
    Tensor y = down(swiglu(gate(x), up(x)));
    return scale == 1 ? y : scale * y;
}

void CausalLm::bind(Scope s, const CausalLmSpec& c) {
    spec = c;
    token_embd = (s / "token_embd").need("weight", Role::matrix, {c.d, c.n_vocab});
    layers.resize(static_cast<size_t>(c.n_layers));
    for (int i = 0; i < c.n_layers; i++) {
        Layer& layer = layers[static_cast<size_t>(i)];
        Scope at = (s / "blocks")[i];
        layer.norm_attn.bind(at / "norm_attn", c.d, c.eps);
        layer.attn.bind(at / "attn", c);
        layer.norm_ffn.bind(at / "norm_ffn", c.d, c.eps);
        layer.ffn.bind(at / "ffn", c);
    }
    norm.bind(s / "output_norm", c.d, c.eps);
    head = c.tied ? token_embd : (s / "output").need("weight", Role::matrix, {c.d, c.n_vocab});
}

Tensor CausalLm::operator()(Tensor x, const StepInputs& in, const KvCache& cache,
                            KvCache::Rows of_cache) const {
    Graph& g = *x.g;
    Rope rope({spec.d_head, spec.rope_theta}, in.pos);
    for (size_t i = 0; i < layers.size(); i++) {
        const Layer& layer = layers[i];
        int number = static_cast<int>(i);
        x = x + layer.attn(layer.norm_attn(x), rope, cache.layer(g, number, of_cache), in);
        if (i + 1 == layers.size()) x = rows(x, in.picks);  // [d, P]
        x = g.tap(x + layer.ffn(layer.norm_ffn(x)), "dec.block.%d.out", number);
    }
    x = g.tap(norm(x), "dec.ln");
    return g.tap(product(head, x), "dec.logits");  // [V, P]
}

Tensor splice(Tensor text, Tensor others, Tensor from) {
    return rows(join_rows(text, others), from);
}

}  // namespace transcribe
