// Products of a weight matrix with rows of floats, for any processor: the widest vectors it has are
// chosen at run time (Highway). Sums are in F32, and the rows are not rounded unless that is asked
// for, whatever type the weights are stored in.
//
// Weights in 8 bits (Product::panels) were rounded and brought into panels at load, and the rows
// are rounded each time, few or many. With others: many rows: they are packed first; then weights
// are brought into panels of a few outputs, input by input, which stay in the cache while all rows
// pass by. Few rows (decoder steps): each weight is read once from memory, as it is stored, and
// meets all rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/rounding.h"
#include "kernels/activation.h"

namespace transcribe::kernels {

// blocks: any that a function has to widen. q8_0: of keys and values only.
enum class Stored { f32, f16, bf16, q8_0, blocks };

struct Matrix {
    const void* data;
    Stored type;
    size_t stride_bytes;  // from row to row
    // Of blocks, which products of few rows do not take: brings a row of n values into floats.
    void (*widen)(const void* row, float* to, std::int64_t n) = nullptr;
};

struct Product {
    Matrix w;         // n_out rows of n_in
    const float* x;   // n_rows rows of n_in
    size_t x_stride;  // floats from row to row; rows may overlap
    float* y;         // n_rows rows of n_out
    size_t y_stride;
    size_t n_in, n_out, n_rows;
    const float* bias = nullptr;               // [n_out], added
    Activation activation = Activation::none;  // of the sum
    const float* packed = nullptr;             // what pack_rows() has made of x
    const float* panels = nullptr;             // what pack_weights() has made of w: int8
    bool bf16 = false;  // of many rows: they and the weights are rounded to bfloat16 numbers
};

// Floats of the widest vectors of this processor.
size_t n_vector_lanes();

// The processor has instructions for sums of products of such numbers; without them they are
// computed as those instructions would, and more slowly than in F32.
bool is_native(Rounding rounding);

// Floats that the weights take in 8 bits.
size_t n_weight_floats(size_t n_in, size_t n_out);
// Packs the share `i` of `n` of the weights into panels of 8-bit numbers.
void pack_weights(const Matrix& w, size_t n_in, size_t n_out, float* to, size_t i, size_t n);

// Floats that x takes when it is packed; 0 where the rows are read as they are.
size_t n_packed(const Product& p);
// Packs the share `i` of `n` of the rows; product() wants all of them.
void pack_rows(const Product& p, float* to, size_t i, size_t n);
// Computes the share `i` of `n` of the outputs. Shares may run at the same time.
void product(const Product& p, size_t i, size_t n);

}  // namespace transcribe::kernels
