#include "families/silero/net.h"

namespace transcribe::silero {

namespace {

using Values = std::span<const std::vector<float>>;

// The cell adds two biases; one will do.
void sum(Values from, std::span<float> to) {
    for (size_t i = 0; i < to.size(); i++) to[i] = from[0][i] + from[1][i];
}

// One bias a channel for all frames.
void repeat(Values from, std::span<float> to) {
    for (size_t i = 0; i < to.size(); i++) to[i] = from[0][i % from[0].size()];
}

// A kernel [3, n_in, n_out] to the matrix that does the same: tap k of output frame t falls on
// input frame t * stride + k - 1.
void spread(const std::vector<float>& kernel, std::span<float> matrix,
            const SmallConv::Frames& frames, const SmallConv::Channels& channels) {
    const int n_row = channels.n_padded * frames.n_in;
    for (int t = 0; t < frames.n_out; t++) {
        for (int k = 0; k < 3; k++) {
            int t_in = t * frames.stride + k - 1;
            if (t_in < 0 || t_in >= frames.n_in) continue;
            for (int i = 0; i < channels.n_in * channels.n_out; i++) {
                int out = i / channels.n_in, in = i % channels.n_in;
                int at = (t * channels.n_out + out) * n_row + t_in * channels.n_padded + in;
                matrix[static_cast<size_t>(at)] = kernel[static_cast<size_t>(3 * i + k)];
            }
        }
    }
}

}  // namespace

void SmallConv::bind(Scope s, const Frames& frames, const Channels& channels) {
    w = s.derive({{"weight", Role::kernel, {3, channels.n_in, channels.n_out}}},
                 {channels.n_padded * frames.n_in, channels.n_out * frames.n_out},
                 [=](Values from, std::span<float> to) { spread(from[0], to, frames, channels); });
    b = s.derive({{"bias", Role::vector, {channels.n_out}}}, {channels.n_out * frames.n_out},
                 repeat);
}

void Net::bind(Scope s, const NetConfig& c) {
    constexpr SmallConv::Frames frames[4] = {{4, 4, 1}, {4, 2, 2}, {2, 1, 2}, {1, 1, 1}};
    int n_in = c.n_bins(), n_padded = c.n_padded_bins();
    for (int i = 0; i < 4; i++) {
        conv[i].bind((s / "enc" / "conv")[i], frames[i], {n_in, n_padded, c.channels[i]});
        n_in = n_padded = c.channels[i];
    }
    gates = (s / "lstm" / "ih").need("weight", Role::matrix, {n_in, 4 * c.hidden});
    gates_bias = (s / "lstm")
                     .derive({{"ih.bias", Role::vector, {4 * c.hidden}},
                              {"hh.bias", Role::vector, {4 * c.hidden}}},
                             {4 * c.hidden}, sum);
}

Tensor Net::operator()(Tensor power) const {
    Graph& g = *power.g;
    Tensor x = g.tap(square_root(power), "vad.stft");
    for (const SmallConv& layer : conv) x = layer(x);
    return product(gates, g.tap(x, "vad.enc.out")) + gates_bias;
}

}  // namespace transcribe::silero
