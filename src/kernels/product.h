// Products of a weight matrix with rows of floats, for any processor: the widest vectors it has are
// chosen at run time (Highway). Sums are in F32, and the rows are not rounded unless that is asked
// for (Product::bf16), whatever type the weights are stored in.
//
// Many rows: they are packed first; then weights are brought into panels of a few outputs, input by
// input, which stay in the cache while all rows pass by. Few rows (decoder steps): each weight is
// read once from memory, as it is stored, and meets all rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/activation.h"

namespace transcribe::kernels {

enum class Stored { f32, f16, bf16, blocks };

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
    bool bf16 = false;  // of many rows: they and the weights are rounded to bfloat16 numbers
};

// The processor has instructions for sums of products of bfloat16 numbers; without them they are
// computed as those instructions would, and more slowly than in F32.
bool bf16_is_native();

// Floats that x takes when it is packed; 0 for few rows, which are read as they are.
size_t n_packed(const Product& p);
// Packs the share `i` of `n` of the rows; product() wants all of them.
void pack_rows(const Product& p, float* to, size_t i, size_t n);
// Computes the share `i` of `n` of the outputs. Shares may run at the same time.
void product(const Product& p, size_t i, size_t n);

}  // namespace transcribe::kernels
