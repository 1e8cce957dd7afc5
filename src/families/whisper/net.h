// Whisper's network (Radford et al. 2022; openai-whisper, whisper/model.py): a transformer encoder
// over two convolutions, a transformer decoder with tied embedding and head.
#pragma once

#include <span>
#include <vector>

#include "blocks/transformer.h"
#include "nn/conv.h"
#include "nn/step.h"
#include "tensor/kv.h"

namespace transcribe::whisper {

struct NetConfig {
    TransformerSpec enc, dec;
    int n_mels = 0;
    int n_audio_ctx = 0;  // encoder positions of a window; a window has twice as many mel frames
    int n_text_ctx = 0;   // decoder positions
    int n_vocab = 0;
};

struct Encoder {
    Conv3 conv1, conv2;
    Weight pos;  // [d, n_audio_ctx]
    std::vector<EncoderBlock> blocks;
    LayerNorm norm;

    void bind(Scope s, const NetConfig& c);
    // mel [n_mels, 2 * n_audio_ctx, B] -> [d, n_audio_ctx, B]
    Tensor operator()(Tensor mel) const;
};

struct Decoder {
    Weight embed, pos;  // [d, V], [d, n_text_ctx]
    std::vector<DecoderBlock> blocks;
    LayerNorm norm;

    void bind(Scope s, const NetConfig& c);
    // Keys and values of an encoder output [d, n_audio_ctx, A] into rows of `memory`.
    void remember(Tensor encoded, const KvCache& memory, KvCache::Rows rows) const;
    // A decoder's view of a session: its rows' own tokens, and the recordings they listen to.
    struct Caches {
        const KvCache& self;
        KvCache::Rows self_rows;
        const KvCache& memory;
        KvCache::Rows memory_rows;
    };
    // Where some heads of cross attention look while tokens are read; one row, one recording.
    struct HeadWatch {
        std::span<const std::vector<int>> heads;  // of each layer
        i64 n_slots;                              // of the memory, from its start
        std::vector<Tensor> scores;               // kept; [n_slots, T] a head, before the softmax
    };
    // -> [V, P]: logits of the picked tokens; with a watch also its scores
    Tensor operator()(const StepInputs& in, const Caches& caches, HeadWatch* watch = nullptr) const;
};

struct Net {
    Encoder enc;
    Decoder dec;
    void bind(Scope s, const NetConfig& c);
};

}  // namespace transcribe::whisper
