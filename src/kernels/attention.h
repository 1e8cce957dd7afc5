// Attention on the CPU: softmax(q k^T scale + mask) v for each head, summed in F32 whatever type
// keys and values are stored in. Many queries go through products of blocks (kernels/tile-inl.h);
// for few (decoder steps) keys and values are read once from memory and meet all queries.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/product.h"

namespace transcribe::kernels {

// Keys or values: n_keys rows of n_heads * d_head, for each of the batch.
struct Memory {
    const void* data;
    Stored type;
    size_t stride_bytes;        // from key to key
    size_t batch_stride_bytes;  // from one of the batch to the next
};

// Relative positions (Dai et al. 2019): query i and key j score (q_i + to_keys) k_j +
// (q_i + to_positions) p_{i - j}.
struct Positions {
    // [n_heads * d_head, 2 n_queries - 1]: those of n_queries - 1, ..., -(n_queries - 1)
    const float* table;
    const float *to_keys, *to_positions;  // [d_head, n_heads]
};

struct Attention {
    const float* q;  // [n_heads * d_head, n_queries, n_batch], all together
    Memory k, v;
    // F16 bits, n_keys for each query of each of the batch, or null: added to the scores.
    const std::uint16_t* mask;
    size_t mask_stride;  // values from query to query
    float* out;          // as q
    size_t d_head, n_heads, n_kv_heads, n_queries, n_keys, n_batch;
    float scale;
    const Positions* positions = nullptr;     // queries and keys are the same frames
    const std::int32_t* n_keys_of = nullptr;  // [n_batch], at least 1: keys behind are not seen
    // Of many queries: what products take. With positions int8 is F32; of q8_0 it is int8 always.
    Rounding rounding = Rounding::none;
};

// Heads of this size can be computed, over keys and values stored so; with positions any can.
bool attention_fits(size_t d_head, Stored type);

// Computes the share `i` of `n`. Shares may run at the same time.
void attention(const Attention& a, size_t i, size_t n);

}  // namespace transcribe::kernels
