#include "nn/host_lm_ops.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "kernels/lm_rows.h"
#include "nn/host_node.h"

namespace transcribe {

namespace {

// Sources: x, weight.
void run_rms_norm(ggml_tensor* dst, int, int, void* user) {
    const ggml_tensor *x = dst->src[0], *weight = dst->src[1];
    const kernels::RmsNorm norm{floats(weight), count(weight->ne[0]), eps_of(user)};
    auto* y = static_cast<float*>(dst->data);
    share_out_rows(carried(user), count(ggml_nelements(x)) / norm.n, 4 * norm.n, [&](size_t r) {
        kernels::rms_norm(norm, floats(x) + r * norm.n, y + r * norm.n);
    });
}

// Sources: pos. Powers and angles are rounded to F32 where the reference has F32 tensors
// (transformers, ROPE_INIT_FUNCTIONS).
void run_turns(ggml_tensor* dst, int, int, void* user) {
    const auto* pos = static_cast<const std::int32_t*>(dst->src[0]->data);
    const auto theta = std::bit_cast<float>(carried(user).number);
    const size_t half = count(dst->ne[0]) / 2, n = count(dst->ne[1]);
    std::vector<float> frequencies(half);
    for (size_t i = 0; i < half; i++) {
        const float exponent = static_cast<float>(2 * i) / static_cast<float>(2 * half);
        frequencies[i] = 1.0f / static_cast<float>(std::pow(double{theta}, double{exponent}));
    }
    auto* y = static_cast<float*>(dst->data);
    share_out_rows(carried(user), n, 64 * half, [&](size_t r) {
        for (size_t i = 0; i < half; i++) {
            const double angle = static_cast<float>(pos[r]) * frequencies[i];
            y[r * 2 * half + i] = static_cast<float>(std::cos(angle));
            y[r * 2 * half + half + i] = static_cast<float>(std::sin(angle));
        }
    });
}

// Sources: x, turns.
void run_turn(ggml_tensor* dst, int, int, void* user) {
    const ggml_tensor *x = dst->src[0], *turns = dst->src[1];
    const size_t d = count(x->ne[0]), d_head = count(turns->ne[0]);
    auto* y = static_cast<float*>(dst->data);
    share_out_rows(carried(user), count(ggml_nrows(x)), 4 * d, [&](size_t r) {
        for (size_t at = r * d; at < (r + 1) * d; at += d_head) {
            kernels::turn(floats(turns) + r * d_head, d_head, floats(x) + at, y + at);
        }
    });
}

// Sources: gate, x.
void run_swiglu(ggml_tensor* dst, int, int, void* user) {
    const ggml_tensor *gate = dst->src[0], *x = dst->src[1];
    const size_t n = count(x->ne[0]);
    auto* y = static_cast<float*>(dst->data);
    share_out_rows(carried(user), count(ggml_nrows(x)), 16 * n, [&](size_t r) {
        kernels::swiglu(floats(gate) + r * n, floats(x) + r * n, n, y + r * n);
    });
}

// A node like `x`.
Tensor node_like(Tensor x, std::vector<ggml_tensor*> sources, ggml_custom_op_t run,
                 int number = 0) {
    for (const ggml_tensor* source : sources) CHECK(ggml_is_contiguous(source));
    return host_node(*x.g, shape_of(x), std::move(sources), run, number);
}

}  // namespace

Tensor host_rms_norm(Tensor x, Weight weight, float eps) {
    CHECK(x.dim(0) % weight.dim(0) == 0);
    return node_like(x, {x.t, weight.t}, run_rms_norm,
                     static_cast<int>(std::lround(eps / eps_unit)));
}

Tensor host_turns(Tensor pos, i64 d_head, float theta) {
    CHECK(d_head % 2 == 0);
    return host_node(*pos.g, {d_head, pos.dim(0)}, {pos.t}, run_turns, std::bit_cast<int>(theta));
}

Tensor host_turn(Tensor x, Tensor turns) {
    CHECK(x.dim(0) % turns.dim(0) == 0 && x.dim(1) == turns.dim(1));
    return node_like(x, {x.t, turns.t}, run_turn);
}

Tensor host_swiglu(Tensor gate, Tensor x) {
    return node_like(x, {gate.t, x.t}, run_swiglu);
}

}  // namespace transcribe
