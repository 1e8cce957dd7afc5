#include "kernels/lm_rows.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/lm_rows.cpp"
#include <hwy/foreach_target.h>
// after foreach_target.h
#include <hwy/contrib/math/math-inl.h>

#include "kernels/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace transcribe::kernels::HWY_NAMESPACE {

// Calls at(i, lanes) for whole vectors, then for what is left of n value by value.
template <class At>
HWY_INLINE void each_vector(size_t n, const At& at) {
    size_t i = 0;
    for (; i + n_lanes <= n; i += n_lanes) at(i, D());
    for (; i < n; i++) at(i, hn::CappedTag<float, 1>());
}

void run_rms_norm(const RmsNorm& norm, const float* x, float* y) {
    float sum = 0;
    V sums = hn::Zero(D());
    size_t i = 0;
    for (; i + n_lanes <= norm.n; i += n_lanes) {
        V v = hn::LoadU(D(), x + i);
        sums = hn::MulAdd(v, v, sums);
    }
    for (; i < norm.n; i++) sum += x[i] * x[i];
    sum += hn::GetLane(hn::SumOfLanes(D(), sums));
    const float scale = 1.0f / std::sqrt(sum / static_cast<float>(norm.n) + norm.eps);
    each_vector(norm.n, [&](size_t at, auto d) {
        auto scaled = hn::Mul(hn::LoadU(d, x + at), hn::Set(d, scale));
        hn::StoreU(hn::Mul(scaled, hn::LoadU(d, norm.weight + at)), d, y + at);
    });
}

void run_turn(const float* turns, size_t n, const float* x, float* y) {
    const size_t half = n / 2;
    each_vector(half, [&](size_t i, auto d) {
        auto cosine = hn::LoadU(d, turns + i), sine = hn::LoadU(d, turns + half + i);
        auto a = hn::LoadU(d, x + i), b = hn::LoadU(d, x + half + i);
        hn::StoreU(hn::NegMulAdd(b, sine, hn::Mul(a, cosine)), d, y + i);
        hn::StoreU(hn::MulAdd(a, sine, hn::Mul(b, cosine)), d, y + half + i);
    });
}

void run_swiglu(const float* gate, const float* x, size_t n, float* y) {
    each_vector(n, [&](size_t i, auto d) {
        auto g = hn::LoadU(d, gate + i);
        auto divisor = hn::Add(hn::Set(d, 1.0f), hn::Exp(d, hn::Neg(g)));
        hn::StoreU(hn::Mul(hn::Div(g, divisor), hn::LoadU(d, x + i)), d, y + i);
    });
}

}  // namespace transcribe::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace transcribe::kernels {

HWY_EXPORT(run_rms_norm);
HWY_EXPORT(run_turn);
HWY_EXPORT(run_swiglu);

void rms_norm(const RmsNorm& norm, const float* x, float* y) {
    HWY_DYNAMIC_DISPATCH(run_rms_norm)(norm, x, y);
}

void turn(const float* turns, size_t n, const float* x, float* y) {
    HWY_DYNAMIC_DISPATCH(run_turn)(turns, n, x, y);
}

void swiglu(const float* gate, const float* x, size_t n, float* y) {
    HWY_DYNAMIC_DISPATCH(run_swiglu)(gate, x, n, y);
}

}  // namespace transcribe::kernels
#endif
