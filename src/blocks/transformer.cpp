#include "blocks/transformer.h"

namespace transcribe {

void Mlp::bind(Scope s, i64 d, i64 d_ff) {
    fc1.bind(s / "fc1", d, d_ff);
    fc2.bind(s / "fc2", d_ff, d);
}

Tensor Mlp::operator()(Tensor x) const {
    return fc2(product(fc1.w, x, fc1.b, Activation::gelu));
}

void EncoderBlock::bind(Scope s, const TransformerSpec& c) {
    norm_attn.bind(s / "norm_attn", c.d);
    attn.bind(s / "attn", {c.n_heads, c.d});
    norm_ffn.bind(s / "norm_ffn", c.d);
    ffn.bind(s / "ffn", c.d, c.d_ff);
}

Tensor EncoderBlock::operator()(Tensor x) const {
    x = x + attn.over_itself(norm_attn(x));
    return x + ffn(norm_ffn(x));
}

void DecoderBlock::bind(Scope s, const TransformerSpec& c) {
    norm_self.bind(s / "norm_self", c.d);
    self_attn.bind(s / "self_attn", {c.n_heads, c.d});
    norm_cross.bind(s / "norm_cross", c.d);
    cross_attn.bind(s / "cross_attn", {c.n_heads, c.d});
    norm_ffn.bind(s / "norm_ffn", c.d);
    ffn.bind(s / "ffn", c.d, c.d_ff);
}

Tensor DecoderBlock::see_tokens(Tensor x, KvLayer cache, const StepInputs& in) const {
    return x + self_attn.over_cache(norm_self(x), cache, in);
}

Tensor DecoderBlock::see_memory(Tensor x, KvLayer memory) const {
    x = x + cross_attn.over_memory(norm_cross(x), memory);
    return x + ffn(norm_ffn(x));
}

}  // namespace transcribe
