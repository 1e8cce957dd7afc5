#include "kernels/rows.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows.cpp"
#include <hwy/foreach_target.h>
// after foreach_target.h
#include "kernels/activation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace transcribe::kernels::HWY_NAMESPACE {

// Sum of of(x[i]) over all i.
template <class Of>
HWY_INLINE float sum(const float* x, size_t n, const Of& of) {
    const D d;
    V even = hn::Zero(d), odd = hn::Zero(d);
    size_t i = 0;
    for (; i + 2 * n_lanes <= n; i += 2 * n_lanes) {
        even = hn::Add(even, of(hn::LoadU(d, x + i)));
        odd = hn::Add(odd, of(hn::LoadU(d, x + i + n_lanes)));
    }
    float total = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
    for (; i < n; i++) total += hn::GetLane(of(hn::Set(d, x[i])));
    return total;
}

void run_layer_norm(const LayerNorm& norm, const float* x, float* y) {
    const D d;
    const auto n_values = static_cast<float>(norm.n);
    const float mean = sum(x, norm.n, [](V v) { return v; }) / n_values;
    const V center = hn::Set(d, mean);
    const float variance = sum(x, norm.n,
                               [&](V v) {
                                   V off = hn::Sub(v, center);
                                   return hn::Mul(off, off);
                               }) /
                           n_values;
    const V scale = hn::Set(d, 1.0f / std::sqrt(variance + norm.eps));
    auto at = [&](V v, V weight, V bias) {
        return hn::MulAdd(hn::Mul(hn::Sub(v, center), scale), weight, bias);
    };
    size_t i = 0;
    for (; i + n_lanes <= norm.n; i += n_lanes) {
        V v = at(hn::LoadU(d, x + i), hn::LoadU(d, norm.weight + i), hn::LoadU(d, norm.bias + i));
        hn::StoreU(v, d, y + i);
    }
    for (; i < norm.n; i++) {
        y[i] =
            hn::GetLane(at(hn::Set(d, x[i]), hn::Set(d, norm.weight[i]), hn::Set(d, norm.bias[i])));
    }
}

void run_activate(Activation f, const float* x, const float* bias, float* y, size_t n) {
    const D d;
    size_t i = 0;
    for (; i + n_lanes <= n; i += n_lanes) {
        V v = hn::LoadU(d, x + i);
        if (bias) v = hn::Add(v, hn::LoadU(d, bias + i));
        hn::StoreU(activated(f, v), d, y + i);
    }
    for (; i < n; i++) {
        y[i] = hn::GetLane(activated(f, hn::Set(d, x[i] + (bias ? bias[i] : 0.0f))));
    }
}

}  // namespace transcribe::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace transcribe::kernels {

HWY_EXPORT(run_layer_norm);
HWY_EXPORT(run_activate);

void layer_norm(const LayerNorm& norm, const float* x, float* y) {
    HWY_DYNAMIC_DISPATCH(run_layer_norm)(norm, x, y);
}

void activate(Activation f, const float* x, const float* bias, float* y, size_t n) {
    HWY_DYNAMIC_DISPATCH(run_activate)(f, x, bias, y, n);
}

}  // namespace transcribe::kernels
#endif
