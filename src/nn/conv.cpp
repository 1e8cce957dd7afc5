#include "nn/conv.h"

#include <ggml.h>

namespace transcribe {

namespace {

// [3, C_in, C_out] -> [C_in, 3, C_out]
void channel_fastest(std::span<const std::vector<float>> from, std::span<float> to, i64 n_in) {
    const std::vector<float>& w = from[0];
    size_t in = static_cast<size_t>(n_in);
    for (size_t i = 0; i < w.size(); i++) {
        size_t k = i % 3, c = i / 3 % in, o = i / 3 / in;
        to[(o * 3 + k) * in + c] = w[i];
    }
}

}  // namespace

void Conv3::bind(Scope s, i64 n_in, i64 n_out, int stride_frames) {
    stride = stride_frames;
    w = s.derive({{"weight", Role::kernel, {3, n_in, n_out}}}, {3 * n_in, n_out},
                 [n_in](auto from, auto to) { channel_fastest(from, to, n_in); });
    b = s.need("bias", Role::vector, {n_out});
}

Tensor Conv3::operator()(Tensor x) const {
    Tensor p = pad_rows(x);                                                    // [C_in, T + 2, B]
    ggml_context* ctx = x.g->ctx;
    i64 n_in = x.dim(0), n_out = x.dim(1) / stride, n_batch = x.dim(2);
    size_t hop = p.t->nb[1] * static_cast<size_t>(stride);
    Tensor taps{ggml_view_3d(ctx, p.t, 3 * n_in, n_out, n_batch, hop, p.t->nb[2], 0), x.g};
    // A view whose rows overlap. The F32 product wants its rows one after another to be fast.
    if (w.dtype() == Dtype::f32) taps.t = ggml_cont(ctx, taps.t);
    return product(w, taps);
}

}  // namespace transcribe
