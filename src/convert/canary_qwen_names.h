// The one table of Canary-Qwen's tensors: our name, NeMo's, and the shape.
#pragma once

namespace transcribe::canary_qwen_names {

// A convolution is linear as well. Of `plain` the names are whole.
enum class Kind { linear, unbiased, plain };

// The shape of the source, slowest first. Encoder: d width, w twice that, f feed-forward, c
// channels of the subsampling, s of its output, h heads, e width of a head, k kernel. Language
// model: D, F, Q all query heads, K all key heads, E width of a head, V vocabulary. m mels, b bins,
// n window; digits themselves. A bias has the first.
struct Row {
    const char* ours;
    const char* theirs;
    const char* shape;
    Kind kind;
};

using enum Kind;
// clang-format off
constexpr Row front_rows[] = {
    {"frontend.mel_filterbank", "perception.preprocessor.featurizer.fb", "1mb", plain},
    {"frontend.window", "perception.preprocessor.featurizer.window", "n", plain},
};

constexpr Row pre_encode_rows[] = {  // perception.encoder.pre_encode.
    {"conv.0", "conv.0", "c133", linear},
    {"conv.2", "conv.2", "c133", linear},
    {"conv.3", "conv.3", "cc11", linear},
    {"conv.5", "conv.5", "c133", linear},
    {"conv.6", "conv.6", "cc11", linear},
    {"out", "out", "ds", linear},
};

constexpr Row encoder_block_rows[] = {  // perception.encoder.layers.N.
    {"norm_ff1", "norm_feed_forward1", "d", linear},
    {"ff1.linear1", "feed_forward1.linear1", "fd", linear},
    {"ff1.linear2", "feed_forward1.linear2", "df", linear},
    {"norm_attn", "norm_self_att", "d", linear},
    {"attn.linear_q", "self_attn.linear_q", "dd", linear},
    {"attn.linear_k", "self_attn.linear_k", "dd", linear},
    {"attn.linear_v", "self_attn.linear_v", "dd", linear},
    {"attn.linear_out", "self_attn.linear_out", "dd", linear},
    {"attn.linear_pos", "self_attn.linear_pos", "dd", unbiased},
    {"attn.pos_bias_u", "self_attn.pos_bias_u", "he", plain},
    {"attn.pos_bias_v", "self_attn.pos_bias_v", "he", plain},
    {"norm_conv", "norm_conv", "d", linear},
    {"conv.pointwise1", "conv.pointwise_conv1", "wd1", linear},
    {"conv.depthwise", "conv.depthwise_conv", "d1k", linear},
    {"conv.bn", "conv.batch_norm", "d", linear},
    {"conv.bn.running_mean", "conv.batch_norm.running_mean", "d", plain},
    {"conv.bn.running_var", "conv.batch_norm.running_var", "d", plain},
    {"conv.pointwise2", "conv.pointwise_conv2", "dd1", linear},
    {"norm_ff2", "norm_feed_forward2", "d", linear},
    {"ff2.linear1", "feed_forward2.linear1", "fd", linear},
    {"ff2.linear2", "feed_forward2.linear2", "df", linear},
    {"norm_out", "norm_out", "d", linear},
};

constexpr Row lm_block_rows[] = {  // llm.(base_model.model.)model.layers.N.
    {"norm_attn", "input_layernorm", "D", unbiased},
    {"attn.q", "self_attn.q_proj", "QD", unbiased},
    {"attn.k", "self_attn.k_proj", "KD", unbiased},
    {"attn.v", "self_attn.v_proj", "KD", unbiased},
    {"attn.o", "self_attn.o_proj", "DQ", unbiased},
    {"attn.q_norm", "self_attn.q_norm", "E", unbiased},
    {"attn.k_norm", "self_attn.k_norm", "E", unbiased},
    {"norm_ffn", "post_attention_layernorm", "D", unbiased},
    {"ffn.gate", "mlp.gate_proj", "FD", unbiased},
    {"ffn.up", "mlp.up_proj", "FD", unbiased},
    {"ffn.down", "mlp.down_proj", "DF", unbiased},
};
// clang-format on

// What has no part in the result.
constexpr const char* skipped_ends[] = {".num_batches_tracked", ".pos_enc.pe"};
constexpr const char* skipped_begins[] = {"perception.encoder.interctc."};

}  // namespace transcribe::canary_qwen_names
