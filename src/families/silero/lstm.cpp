// The loops are written so that compilers turn them into vector code: sums of gates in blocks that
// stay in registers, and an exponential without a call or a branch.
#include "families/silero/lstm.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace transcribe::silero {

namespace {

constexpr size_t n_block = 64;  // gates whose sums are kept at once

// e^x = 2^t = 2^n * 2^f: n goes into the exponent's bits, 2^f for f in [0, 1) is a polynomial,
// fitted until its largest relative error was 2e-9. |x| up to 87.
float exp_of(float x) {
    constexpr float p[] = {1.0f,           0.693146984f,   0.240229836f,   0.0554833421f,
                           0.00967884085f, 0.00124396886f, 0.000217022541f};
    float t = x * 1.44269504f;
    auto exponent = static_cast<std::int32_t>(t + 127.0f);
    float f = t - static_cast<float>(exponent - 127);
    float y = (((((p[6] * f + p[5]) * f + p[4]) * f + p[3]) * f + p[2]) * f + p[1]) * f + p[0];
    return y * std::bit_cast<float>(exponent << 23);
}

// 1 / (1 + e^(-slope x)) in place; at +-40 both that and tanh are 0 or 1 to single precision. The
// limit has a loop of its own: within one, compilers branch.
void sigmoid(std::span<float> x, float slope) {
    for (float& value : x) value = std::min(std::max(value, -40.0f), 40.0f);
    for (float& value : x) value = 1.0f / (1.0f + exp_of(-slope * value));
}

void tanh(std::span<float> x) {
    sigmoid(x, 2.0f);
    for (float& value : x) value = 2.0f * value - 1.0f;
}

}  // namespace

void LstmWeights::set_recurrent(std::span<const float> stored) {
    const size_t n_gates = 4 * hidden;
    recurrent.assign((n_gates + n_block - 1) / n_block * n_block * hidden, 0.0f);
    for (size_t i = 0; i < stored.size(); i++) {
        size_t gate = i / hidden, input = i % hidden;
        recurrent[(gate / n_block * hidden + input) * n_block + gate % n_block] = stored[i];
    }
}

Lstm::Lstm(const LstmWeights& weights)
    : w_(weights),
      hidden_(weights.hidden),
      cell_(weights.hidden),
      gates_(weights.recurrent.size() / weights.hidden) {}

void Lstm::add_recurrent() {
    const float* w = w_.recurrent.data();
    for (size_t at = 0; at < gates_.size(); at += n_block) {
        float sums[n_block];
        std::copy_n(&gates_[at], n_block, sums);
        for (float x : hidden_) {
            for (size_t k = 0; k < n_block; k++) sums[k] += x * w[k];
            w += n_block;
        }
        std::copy_n(sums, n_block, &gates_[at]);
    }
}

float Lstm::step(std::span<const float> gates) {
    const size_t n = w_.hidden;
    std::copy(gates.begin(), gates.end(), gates_.begin());
    add_recurrent();
    const std::span all(gates_);
    sigmoid(all.first(3 * n), 1.0f);
    tanh(all.subspan(3 * n, n));
    const float *in = &gates_[0], *out = &gates_[n], *forget = &gates_[2 * n];
    const float* fresh = &gates_[3 * n];
    for (size_t i = 0; i < n; i++) cell_[i] = forget[i] * cell_[i] + in[i] * fresh[i];
    std::copy(cell_.begin(), cell_.end(), hidden_.begin());
    tanh(hidden_);
    float logit = w_.head_bias;
    for (size_t i = 0; i < n; i++) {
        hidden_[i] *= out[i];
        logit += w_.head[i] * std::max(hidden_[i], 0.0f);
    }
    return 1.0f / (1.0f + std::exp(-logit));
}

}  // namespace transcribe::silero
