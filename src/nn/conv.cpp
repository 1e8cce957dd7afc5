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

// A view of x [C, T, B] whose row i is the `n` rows of x from i * stride on: [n C, T', B]. ggml's
// own views may not hold more elements than their source, so the rows are counted after it is made.
Tensor overlapping_rows(Tensor x, int n, int stride) {
    size_t hop = x.t->nb[1] * static_cast<size_t>(stride);
    ggml_tensor* t = ggml_view_3d(x.g->ctx, x.t, n * x.dim(0), 1, x.dim(2), hop, x.t->nb[2], 0);
    t->ne[1] = (x.dim(1) - n) / stride + 1;
    return {t, x.g};
}

}  // namespace

void Conv3::bind(Scope s, i64 n_in, i64 n_out, int stride_frames) {
    stride = stride_frames;
    w = s.derive({{"weight", Role::kernel, {3, n_in, n_out}}}, {3 * n_in, n_out},
                 [n_in](auto from, auto to) { channel_fastest(from, to, n_in); });
    b = s.need("bias", Role::vector, {n_out});
}

Tensor Conv3::operator()(Tensor x) const {
    Tensor p = pad_rows(x);                        // [C_in, T + 2, B]
    Tensor taps = overlapping_rows(p, 3, stride);  // [3 C_in, T', B]
    return product(w, taps);
}

}  // namespace transcribe
