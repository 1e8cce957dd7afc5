// The FastConformer encoder (Gulati et al. 2020; Rekesh et al. 2023), as NeMo has it: subsampling
// by depthwise convolutions, relative positions, batch norm.
//
// What bites: rows of a batch are as long as the longest, and every layer that looks at other
// frames must know which are a row's own (nn/frames.h); without that a row's last frames come out
// wrong. What stands behind a row's own frames in the output means nothing.
#pragma once

#include <array>
#include <vector>

#include "nn/frames.h"
#include "tensor/compute.h"

namespace transcribe {

struct ConformerSpec {
    int n_layers = 0, n_heads = 0;
    i64 d = 0, d_ff = 0;
    int n_mels = 0, n_channels = 0;  // of the subsampling
    int kernel = 9;                  // frames that a depthwise convolution sees, odd
    static constexpr int factor = 8;
    static constexpr int n_halvings = 3;
};

// Frames after so many halvings, of which each rounds up.
i64 halved(i64 n_frames, int n_halvings);

// What the encoder is fed: B rows of T frames.
struct FrameInputs {
    Tensor mel;                                              // f32 [n_mels, T, B]
    std::array<Tensor, ConformerSpec::n_halvings + 1> seen;  // f32 [1, T / 2^i, B] (nn/frames.h)
    Tensor positions;                                        // f32 [d, 2 T' - 1], T' = T / 8
    static FrameInputs declare(Graph&, const ConformerSpec&, i64 n_frames, i64 n_rows);
};

// The host side: rows of mel frames, padded to the longest with zeros.
class FrameFeed {
  public:
    // Each row [n_mels, its frames], at least one frame.
    FrameFeed(const ConformerSpec& spec, const std::vector<std::vector<float>>& rows);
    i64 n_frames() const { return n_frames_; }
    i64 n_rows() const { return static_cast<i64>(lengths_.size()); }
    // Frames of a row that come out.
    i64 n_out(size_t row) const { return halved(lengths_[row], ConformerSpec::n_halvings); }
    Status run(Compute&, const FrameInputs&) const;

  private:
    std::vector<i64> lengths_;
    i64 n_frames_ = 0;
    std::vector<float> mel_, positions_;
    std::array<std::vector<float>, ConformerSpec::n_halvings + 1> seen_;
};

// Three halvings of time and mels, and a projection.
struct Subsampling {
    HalvingConv halve0, halve1, halve2;
    Weight mix1, mix1_b, mix2, mix2_b;  // over channels, behind halve1 and halve2
    Linear out;

    void bind(Scope s, const ConformerSpec& c);
    // -> [d, T', B]
    Tensor operator()(const FrameInputs& in) const;
};

// x + (W2 silu(W1 norm(x) + b1) + b2) / 2
struct HalfStepMlp {
    LayerNorm norm;
    Linear linear1, linear2;

    void bind(Scope s, const char* norm_name, const char* name, const ConformerSpec& c);
    // [d, n...] -> [d, n...]
    Tensor operator()(Tensor x) const;
};

struct ConvModule {
    Weight pointwise1, pointwise1_b, pointwise2, pointwise2_b;
    GatedConv gated;

    void bind(Scope s, const ConformerSpec& c);
    // [d, T, B] -> [d, T, B]
    Tensor operator()(Tensor x, Tensor seen) const;
};

struct ConformerBlock {
    HalfStepMlp ff1, ff2;
    LayerNorm norm_attn, norm_conv, norm_out;
    RelativeAttention attn;
    ConvModule conv;

    void bind(Scope s, const ConformerSpec& c);
    // [d, T, B] -> [d, T, B]
    Tensor operator()(Tensor x, Tensor positions, Tensor seen) const;
};

struct Conformer {
    Subsampling pre_encode;
    std::vector<ConformerBlock> blocks;

    void bind(Scope s, const ConformerSpec& c);
    // -> [d, T', B]
    Tensor operator()(const FrameInputs& in) const;
};

}  // namespace transcribe
