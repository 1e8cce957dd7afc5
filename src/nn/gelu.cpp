// erf(z) = z * P(z^2) / Q(z^2) for |z| <= 3.9 (beyond, it is 1 to single precision): degree 5 over
// 5, fitted to the exact function by weighted least squares until the largest error was 1.5e-8. One
// branch-free loop, which compilers turn into vector code.
#include "nn/gelu.h"

#include <ggml.h>

#include <algorithm>

namespace transcribe {

namespace {

float erf_of(float z) {
    constexpr float p[] = {1.12837899f,    0.191926926f,   0.0529651158f,
                           0.00383628975f, 2.87446572e-4f, 2.05052447e-6f};
    constexpr float q[] = {1.0f,          0.503422618f,  0.114752434f,
                           0.0151080284f, 0.0011815970f, 3.82316139e-5f};
    z = std::min(std::max(z, -3.9f), 3.9f);
    float u = z * z;
    float num = ((((p[5] * u + p[4]) * u + p[3]) * u + p[2]) * u + p[1]) * u + p[0];
    float den = ((((q[5] * u + q[4]) * u + q[3]) * u + q[2]) * u + q[1]) * u + q[0];
    return z * num / den;
}

float gelu_of(float x) {
    return 0.5f * x * (1.0f + erf_of(x * 0.70710678f));
}

// This thread's share of the rows of dst = gelu(a + bias).
void share(ggml_tensor* dst, int ith, int nth, void*) {
    const ggml_tensor *a = dst->src[0], *bias = dst->src[1];
    i64 n_rows = ggml_nrows(dst), from = n_rows * ith / nth, to = n_rows * (ith + 1) / nth;
    size_t stride = dst->nb[1];
    const auto* b = bias ? static_cast<const float*>(bias->data) : nullptr;
    for (i64 row = from; row < to; row++) {
        size_t offset = static_cast<size_t>(row) * stride;
        const auto* x = reinterpret_cast<const float*>(static_cast<char*>(a->data) + offset);
        auto* out = reinterpret_cast<float*>(static_cast<char*>(dst->data) + offset);
        gelu_row(x, b, out, static_cast<int>(dst->ne[0]));
    }
}

void share_of_one(ggml_tensor* dst, const ggml_tensor*, int ith, int nth, void* user) {
    share(dst, ith, nth, user);
}

void share_of_two(ggml_tensor* dst, const ggml_tensor*, const ggml_tensor*, int ith, int nth,
                  void* user) {
    share(dst, ith, nth, user);
}

}  // namespace

void gelu_row(const float* x, const float* bias, float* out, int n) {
    if (bias) {
        for (int i = 0; i < n; i++) out[i] = gelu_of(x[i] + bias[i]);
    } else {
        for (int i = 0; i < n; i++) out[i] = gelu_of(x[i]);
    }
}

Tensor host_gelu(Tensor x) {
    return {ggml_map_custom1_inplace(x.g->ctx, x.t, share_of_one, GGML_N_TASKS_MAX, nullptr), x.g};
}

Tensor host_gelu(Tensor x, Weight bias) {
    return {
        ggml_map_custom2_inplace(x.g->ctx, x.t, bias.t, share_of_two, GGML_N_TASKS_MAX, nullptr),
        x.g};
}

}  // namespace transcribe
