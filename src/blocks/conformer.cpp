#include "blocks/conformer.h"

#include <algorithm>

#include "base/check.h"

namespace transcribe {

i64 halved(i64 n_frames, int n_halvings) {
    for (int i = 0; i < n_halvings; i++) n_frames = (n_frames + 1) / 2;
    return n_frames;
}

FrameInputs FrameInputs::declare(Graph& g, const ConformerSpec& c, i64 n_frames, i64 n_rows) {
    FrameInputs in;
    in.mel = g.input("mel", Dtype::f32, {c.n_mels, n_frames, n_rows});
    for (size_t i = 0; i < in.seen.size(); i++) {
        in.seen[i] =
            g.input("enc.seen", Dtype::f32, {1, halved(n_frames, static_cast<int>(i)), n_rows});
    }
    in.positions = g.input("enc.pos_emb", Dtype::f32, {c.d, 2 * in.seen.back().dim(1) - 1});
    return in;
}

FrameFeed::FrameFeed(const ConformerSpec& c, const std::vector<std::vector<float>>& rows) {
    for (const std::vector<float>& row : rows) {
        CHECK(!row.empty() && row.size() % static_cast<size_t>(c.n_mels) == 0);
        lengths_.push_back(static_cast<i64>(row.size()) / c.n_mels);
        n_frames_ = std::max(n_frames_, lengths_.back());
    }
    for (const std::vector<float>& row : rows) {
        mel_.insert(mel_.end(), row.begin(), row.end());
        mel_.resize(mel_.size() + static_cast<size_t>(n_frames_ * c.n_mels) - row.size(), 0.0f);
    }
    for (int i = 0; i <= ConformerSpec::n_halvings; i++) {
        std::vector<float>& seen = seen_[static_cast<size_t>(i)];
        for (i64 length : lengths_) {
            seen.resize(seen.size() + static_cast<size_t>(halved(length, i)), 1.0f);
            seen.resize(seen.size() + static_cast<size_t>(halved(n_frames_, i) - halved(length, i)),
                        0.0f);
        }
    }
    positions_ = relative_positions(c.d, halved(n_frames_, ConformerSpec::n_halvings));
}

Status FrameFeed::run(Compute& compute, const FrameInputs& in) const {
    return compute.run({{in.mel, mel_},
                        {in.seen[0], seen_[0]},
                        {in.seen[1], seen_[1]},
                        {in.seen[2], seen_[2]},
                        {in.seen[3], seen_[3]},
                        {in.positions, positions_}});
}

void Subsampling::bind(Scope s, const ConformerSpec& c) {
    i64 n = c.n_channels;
    Scope conv = s / "conv";
    auto mix = [n](Scope at, Weight& w, Weight& b) {
        w = at.need("weight", Role::kernel, {n, n});
        b = at.need("bias", Role::vector, {n});
    };
    halve0.bind(conv[0], n);
    halve1.bind(conv[2], n);
    mix(conv[3], mix1, mix1_b);
    halve2.bind(conv[5], n);
    mix(conv[6], mix2, mix2_b);
    out.bind(s / "out", halved(c.n_mels, ConformerSpec::n_halvings) * n, c.d);
}

Tensor Subsampling::operator()(const FrameInputs& in) const {
    i64 n_mels = in.mel.dim(0), n_frames = in.mel.dim(1), n_rows = in.mel.dim(2);
    Tensor x = reshape(in.mel, {1, n_mels, n_frames, n_rows});
    x = halve0(x, in.seen[0], Activation::relu);                         // [C, W/2, T/2, B]
    x = product(mix1, halve1(x, in.seen[1]), mix1_b, Activation::relu);  // [C, W/4, T/4, B]
    x = product(mix2, halve2(x, in.seen[2]), mix2_b, Activation::relu);  // [C, W/8, T', B]
    x = swap_fastest(x);                                                 // [W/8, C, T', B]
    return out(reshape(x, {x.dim(0) * x.dim(1), x.dim(2), x.dim(3)}));
}

void HalfStepMlp::bind(Scope s, const char* norm_name, const char* name, const ConformerSpec& c) {
    norm.bind(s / norm_name, c.d);
    linear1.bind(s / name / "linear1", c.d, c.d_ff);
    linear2.bind(s / name / "linear2", c.d_ff, c.d);
}

Tensor HalfStepMlp::operator()(Tensor x) const {
    return x + 0.5f * linear2(product(linear1.w, norm(x), linear1.b, Activation::silu));
}

void ConvModule::bind(Scope s, const ConformerSpec& c) {
    pointwise1 = (s / "pointwise1").need("weight", Role::kernel, {c.d, 2 * c.d});
    pointwise1_b = (s / "pointwise1").need("bias", Role::vector, {2 * c.d});
    gated.bind(s, c.d, c.kernel);
    pointwise2 = (s / "pointwise2").need("weight", Role::kernel, {c.d, c.d});
    pointwise2_b = (s / "pointwise2").need("bias", Role::vector, {c.d});
}

Tensor ConvModule::operator()(Tensor x, Tensor seen) const {
    return product(pointwise2, gated(product(pointwise1, x, pointwise1_b), seen), pointwise2_b);
}

void ConformerBlock::bind(Scope s, const ConformerSpec& c) {
    ff1.bind(s, "norm_ff1", "ff1", c);
    norm_attn.bind(s / "norm_attn", c.d);
    attn.bind(s / "attn", c.d, c.n_heads);
    norm_conv.bind(s / "norm_conv", c.d);
    conv.bind(s / "conv", c);
    ff2.bind(s, "norm_ff2", "ff2", c);
    norm_out.bind(s / "norm_out", c.d);
}

Tensor ConformerBlock::operator()(Tensor x, Tensor positions, Tensor seen) const {
    x = ff1(x);
    x = x + attn(norm_attn(x), positions, seen);
    x = x + conv(norm_conv(x), seen);
    x = ff2(x);
    return norm_out(x);
}

void Conformer::bind(Scope s, const ConformerSpec& c) {
    pre_encode.bind(s / "pre_encode", c);
    blocks.resize(static_cast<size_t>(c.n_layers));
    for (int i = 0; i < c.n_layers; i++) {
        blocks[static_cast<size_t>(i)].bind((s / "blocks")[i], c);
    }
}

Tensor Conformer::operator()(const FrameInputs& in) const {
    Graph& g = *in.mel.g;
    Tensor x = g.tap(pre_encode(in), "enc.pre_encode.out");
    for (size_t i = 0; i < blocks.size(); i++) {
        x = g.tap(blocks[i](x, in.positions, in.seen.back()), "enc.block.%d.out",
                  static_cast<int>(i));
    }
    return x;
}

}  // namespace transcribe
