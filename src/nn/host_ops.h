// Nodes of a graph that our own kernels compute, on the threads of the session's lane (CPU only).
#pragma once

#include "nn/ops.h"
#include "tensor/kv.h"

namespace transcribe {

// activation(W x + bias): w [in, out], x F32 [in, n...] -> [out, n...]; bias may be empty. With w
// F32, F16, BF16 or packed at load x may be a view whose rows overlap; with others its rows lie
// together and are many.
constexpr i64 n_rows_of_blocks = 32;
Tensor host_product(Tensor w, Tensor x, Weight bias, Activation activation);

// W x for a quantized w and few rows.
Tensor host_quantized_product(Weight w, Tensor x);

// f(x + bias): bias [ne0], may be empty.
Tensor host_activate(Activation f, Tensor x, Weight bias = {});

// (x - mean) / sqrt(variance + eps) * weight + bias over the fastest axis.
Tensor host_layer_norm(Tensor x, Weight weight, Weight bias, float eps);

// See sdpa() in nn/attention.h.
bool host_attention_fits(Tensor q, KvLayer kv, int n_heads);
Tensor host_attention(Tensor q, KvLayer kv, Tensor mask, int n_heads);

}  // namespace transcribe
