#include "families/whisper/net.h"

namespace transcribe::whisper {

void Encoder::bind(Scope s, const NetConfig& c) {
    conv1.bind(s / "conv" / "0", c.n_mels, c.enc.d, 1);
    conv2.bind(s / "conv" / "1", c.enc.d, c.enc.d, 2);
    pos = (s / "pos_emb").need("weight", Role::table, {c.enc.d, c.n_audio_ctx});
    blocks.resize(static_cast<size_t>(c.enc.n_layers));
    for (int i = 0; i < c.enc.n_layers; i++) {
        blocks[static_cast<size_t>(i)].bind((s / "blocks")[i], c.enc);
    }
    norm.bind(s / "final_norm", c.enc.d);
}

Tensor Encoder::operator()(Tensor mel) const {
    Graph& g = *mel.g;
    Tensor x = gelu(g.tap(conv1(mel) + conv1.b, "enc.conv1.pre_gelu"));
    x = gelu(g.tap(conv2(x) + conv2.b, "enc.conv2.pre_gelu"));
    x = x + pos;  // [d, n_audio_ctx, B]
    for (size_t i = 0; i < blocks.size(); i++) {
        x = g.tap(blocks[i](x), "enc.block.%d.out", static_cast<int>(i));
    }
    return g.tap(norm(x), "enc.out");
}

void Decoder::bind(Scope s, const NetConfig& c) {
    embed = (s / "token_embd").need("weight", Role::matrix, {c.dec.d, c.n_vocab});
    pos = (s / "pos_emb").need("weight", Role::table, {c.dec.d, c.n_text_ctx});
    blocks.resize(static_cast<size_t>(c.dec.n_layers));
    for (int i = 0; i < c.dec.n_layers; i++) {
        blocks[static_cast<size_t>(i)].bind((s / "blocks")[i], c.dec);
    }
    norm.bind(s / "final_norm", c.dec.d);
}

void Decoder::remember(Tensor encoded, const KvCache& memory, KvCache::Rows rows) const {
    for (size_t i = 0; i < blocks.size(); i++) {
        memory.store(blocks[i].cross_attn.memory_of(encoded), static_cast<int>(i), rows);
    }
}

Tensor Decoder::operator()(const StepInputs& in, const Caches& caches, HeadWatch* watch) const {
    Graph& g = *in.ids.g;
    Tensor x = rows(embed, in.ids) + rows(pos, in.pos);  // [d, T * B]
    for (size_t i = 0; i < blocks.size(); i++) {
        int layer = static_cast<int>(i);
        KvLayer self = caches.self.layer(g, layer, caches.self_rows);
        KvLayer memory = caches.memory.layer(g, layer, caches.memory_rows);
        x = blocks[i].see_tokens(x, self, in);
        if (watch) {
            auto scores = blocks[i].cross_attn.scores_over_memory(
                blocks[i].norm_cross(x), memory.first(watch->n_slots), watch->heads[i]);
            for (Tensor own : scores) watch->scores.push_back(g.keep(own));
        }
        x = g.tap(blocks[i].see_memory(x, memory), "dec.block.%d.out", layer);
    }
    x = g.tap(norm(rows(x, in.picks)), "dec.ln");   // [d, P]
    return g.tap(product(embed, x), "dec.logits");  // [V, P]
}

void Net::bind(Scope s, const NetConfig& c) {
    enc.bind(s / "enc", c);
    dec.bind(s / "dec", c);
}

}  // namespace transcribe::whisper
