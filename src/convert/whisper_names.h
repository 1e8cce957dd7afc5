// The one table of Whisper's tensors: our name, shape and kind, and what each source calls it.
//
// What bites: CTranslate2 fuses q, k, v (self attention) and k, v (cross attention) along the first
// axis; there a row takes one part of n. Its fused bias holds zeros for k, which has no bias.
#pragma once

#include <span>

#include "convert/checkpoint.h"

namespace transcribe::whisper_names {

// A convolution is linear as well.
enum class Kind { linear, unbiased, norm, positions };

// One weight and, for linear and norm, its bias. The weight's shape, slowest first: d width, f
// feed-forward, m mels, v vocabulary, s source and t target positions, digits themselves. The bias
// has the first.
struct Row {
    const char* ours;
    const char* shape;
    Kind kind;
    const char* theirs[3];      // by Checkpoint::Format: Hugging Face, CTranslate2, whisper.cpp
    int part = 0, n_parts = 1;  // of CTranslate2's tensor
    bool has_bias() const { return kind == Kind::linear || kind == Kind::norm; }
};

// How a source joins its names: encoder + separator + block + row + leaf.
struct Spelling {
    const char* separator;
    const char* block;      // "layers.{}."
    const char* leaves[2];  // of the weight and of the bias
    const char* norm_leaves[2];
    const char* positions_leaf;
};

// clang-format off
constexpr Spelling spellings[] = {
    {".", "layers.{}.", {".weight", ".bias"}, {".weight", ".bias"}, ".weight"},
    {"/", "layer_{}/",  {"/weight", "/bias"}, {"/gamma", "/beta"},  "/encodings"},
    {".", "blocks.{}.", {".weight", ".bias"}, {".weight", ".bias"}, ""},
};

using enum Kind;
constexpr Row encoder_rows[] = {
    {"conv.0", "dm3", linear, {"conv1", "conv1", "conv1"}},
    {"conv.1", "dd3", linear, {"conv2", "conv2", "conv2"}},
    {"pos_emb", "sd", positions, {"embed_positions", "position_encodings", "positional_embedding"}},
    {"final_norm", "d", norm, {"layer_norm", "layer_norm", "ln_post"}},
};

constexpr Row decoder_rows[] = {
    {"token_embd", "vd", unbiased, {"embed_tokens", "embeddings", "token_embedding"}},
    {"pos_emb", "td", positions, {"embed_positions", "position_encodings", "positional_embedding"}},
    {"final_norm", "d", norm, {"layer_norm", "layer_norm", "ln"}},
};

constexpr Row encoder_block_rows[] = {
    {"norm_attn", "d", norm, {"self_attn_layer_norm", "self_attention/layer_norm", "attn_ln"}},
    {"attn.q", "dd", linear, {"self_attn.q_proj", "self_attention/linear_0", "attn.query"}, 0, 3},
    {"attn.k", "dd", unbiased, {"self_attn.k_proj", "self_attention/linear_0", "attn.key"}, 1, 3},
    {"attn.v", "dd", linear, {"self_attn.v_proj", "self_attention/linear_0", "attn.value"}, 2, 3},
    {"attn.out", "dd", linear, {"self_attn.out_proj", "self_attention/linear_1", "attn.out"}},
    {"norm_ffn", "d", norm, {"final_layer_norm", "ffn/layer_norm", "mlp_ln"}},
    {"ffn.fc1", "fd", linear, {"fc1", "ffn/linear_0", "mlp.0"}},
    {"ffn.fc2", "df", linear, {"fc2", "ffn/linear_1", "mlp.2"}},
};

constexpr Row decoder_block_rows[] = {
    {"norm_self", "d", norm, {"self_attn_layer_norm", "self_attention/layer_norm", "attn_ln"}},
    {"self_attn.q", "dd", linear,
     {"self_attn.q_proj", "self_attention/linear_0", "attn.query"}, 0, 3},
    {"self_attn.k", "dd", unbiased,
     {"self_attn.k_proj", "self_attention/linear_0", "attn.key"}, 1, 3},
    {"self_attn.v", "dd", linear,
     {"self_attn.v_proj", "self_attention/linear_0", "attn.value"}, 2, 3},
    {"self_attn.out", "dd", linear, {"self_attn.out_proj", "self_attention/linear_1", "attn.out"}},
    {"norm_cross", "d", norm, {"encoder_attn_layer_norm", "attention/layer_norm", "cross_attn_ln"}},
    {"cross_attn.q", "dd", linear,
     {"encoder_attn.q_proj", "attention/linear_0", "cross_attn.query"}},
    {"cross_attn.k", "dd", unbiased,
     {"encoder_attn.k_proj", "attention/linear_1", "cross_attn.key"}, 0, 2},
    {"cross_attn.v", "dd", linear,
     {"encoder_attn.v_proj", "attention/linear_1", "cross_attn.value"}, 1, 2},
    {"cross_attn.out", "dd", linear,
     {"encoder_attn.out_proj", "attention/linear_2", "cross_attn.out"}},
    {"norm_ffn", "d", norm, {"final_layer_norm", "ffn/layer_norm", "mlp_ln"}},
    {"ffn.fc1", "fd", linear, {"fc1", "ffn/linear_0", "mlp.0"}},
    {"ffn.fc2", "df", linear, {"fc2", "ffn/linear_1", "mlp.2"}},
};
// clang-format on

}  // namespace transcribe::whisper_names
