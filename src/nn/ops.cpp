#include "nn/ops.h"

#include <ggml.h>

#include "base/check.h"
#include "nn/host_lm_ops.h"
#include "nn/host_ops.h"
#include "nn/norm.h"

namespace transcribe {

Tensor rows(Weight table, Tensor ids) {
    return {ggml_get_rows(ids.g->ctx, table.t, ids.t), ids.g};
}

Tensor rows(Tensor x, Tensor index) {
    return {ggml_get_rows(x.g->ctx, x.t, index.t), x.g};
}

namespace {

// Sums in F32: those of large activations leave the range of F16.
Tensor device_product(Weight w, Tensor x) {
    Tensor y{ggml_mul_mat(x.g->ctx, w.t, x.t), x.g};
    ggml_mul_mat_set_prec(y.t, GGML_PREC_F32);
    return y;
}

}  // namespace

Tensor product(Weight w, Tensor x, Weight bias, Activation activation) {
    CHECK(w.dim(0) == x.dim(0));
    bool stored_as_floats =
        w.dtype() == Dtype::f32 || w.dtype() == Dtype::f16 || w.dtype() == Dtype::bf16;
    Tensor as_it_is = x.g->use(w);
    if (x.g->on_cpu && (stored_as_floats || w.t->extra))
        return host_product(as_it_is, x, bias, activation);
    if (!ggml_is_contiguous(x.t)) x.t = ggml_cont(x.g->ctx, x.t);
    // Quantized weights with few rows are ggml's: it rounds the rows to 8 bits. With many rows it
    // is both exact and faster to widen the weights, panel by panel.
    if (x.g->on_cpu && ggml_nrows(x.t) >= n_rows_of_blocks) {
        return host_product(as_it_is, x, bias, activation);
    }
    Tensor y = x.g->on_cpu ? host_quantized_product(w, x) : device_product(w, x);
    if (x.g->on_cpu && activation != Activation::none) return host_activate(activation, y, bias);
    if (bias) y = y + bias;
    switch (activation) {
        case Activation::gelu: return gelu(y);
        case Activation::silu: return {ggml_silu(y.g->ctx, y.t), y.g};
        case Activation::relu: return relu(y);
        default: return y;
    }
}

Tensor reshape(Tensor x, const Shape& s) {
    return {ggml_reshape_4d(x.g->ctx, x.t, s.ne[0], s.ne[1], s.ne[2], s.ne[3]), x.g};
}

Tensor gelu(Tensor x) {
    if (x.g->on_cpu) return host_activate(Activation::gelu, x);
    return {ggml_gelu_erf(x.g->ctx, x.t), x.g};
}

Tensor gelu(Tensor x, Weight bias) {
    if (x.g->on_cpu) return host_activate(Activation::gelu, x, bias);
    return gelu(x + bias);
}

Tensor relu(Tensor x) {
    return {ggml_relu(x.g->ctx, x.t), x.g};
}

Tensor square_root(Tensor x) {
    return {ggml_sqrt(x.g->ctx, x.t), x.g};
}

Tensor swiglu(Tensor gate, Tensor x) {
    if (x.g->on_cpu) return host_swiglu(gate, x);
    return {ggml_swiglu_split(x.g->ctx, gate.t, x.t), x.g};
}

Tensor join_rows(Tensor a, Tensor b) {
    return {ggml_concat(a.g->ctx, a.t, b.t, 1), a.g};
}

Tensor swap_fastest(Tensor x) {
    return {ggml_cont(x.g->ctx, ggml_permute(x.g->ctx, x.t, 1, 0, 2, 3)), x.g};
}

Tensor pad_rows(Tensor x) {
    return {ggml_pad_ext(x.g->ctx, x.t, 0, 0, 1, 1, 0, 0, 0, 0), x.g};
}

Tensor split_heads(Tensor x, int n_heads) {
    ggml_context* ctx = x.g->ctx;
    ggml_tensor* t = x.t;
    size_t head_bytes = ggml_row_size(t->type, x.dim(0) / n_heads);
    return {ggml_view_4d(ctx, t, x.dim(0) / n_heads, x.dim(1), n_heads, x.dim(2), t->nb[1],
                         head_bytes, t->nb[2], 0),
            x.g};
}

Tensor layer_norm(Tensor x, Weight weight, Weight bias, float eps) {
    if (x.g->on_cpu) return host_layer_norm(x, weight, bias, eps);
    return Tensor{ggml_norm(x.g->ctx, x.t, eps), x.g} * weight + bias;
}

Tensor rms_norm(Tensor x, Weight weight, float eps) {
    if (x.g->on_cpu) return host_rms_norm(x, weight, eps);
    Shape whole{x.dim(0), x.dim(1), x.dim(2), x.dim(3)};
    i64 n_groups = x.dim(0) / weight.dim(0);
    Tensor groups = reshape(x, {weight.dim(0), n_groups * x.dim(1), x.dim(2), x.dim(3)});
    return reshape(Tensor{ggml_rms_norm(x.g->ctx, groups.t, eps), x.g} * weight, whole);
}

}  // namespace transcribe
