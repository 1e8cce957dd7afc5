// Activations of a vector, compiled once for each kind of processor. The C library's erf and exp,
// one value after another, would cost a tenth of an encoder pass.
#if defined(TRANSCRIBE_ACTIVATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRANSCRIBE_ACTIVATION_INL_H_
#undef TRANSCRIBE_ACTIVATION_INL_H_
#else
#define TRANSCRIBE_ACTIVATION_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>

#include "kernels/activation.h"
#include "kernels/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace transcribe::kernels::HWY_NAMESPACE {

// gelu(x) by erf(z) = z P(z^2) / Q(z^2) for |z| <= 3.9 (beyond, it is 1 to single precision):
// degree 5 over 5, fitted to the exact function by weighted least squares until the largest error
// was 1.5e-8.
HWY_INLINE V gelu_of(V x) {
    const D d;
    auto poly = [&](V u, float a, float b, float c, float e, float f, float g) {
        V p = hn::MulAdd(hn::Set(d, a), u, hn::Set(d, b));
        p = hn::MulAdd(p, u, hn::Set(d, c));
        p = hn::MulAdd(p, u, hn::Set(d, e));
        p = hn::MulAdd(p, u, hn::Set(d, f));
        return hn::MulAdd(p, u, hn::Set(d, g));
    };
    V z = hn::Mul(x, hn::Set(d, 0.70710678f));
    z = hn::Min(hn::Max(z, hn::Set(d, -3.9f)), hn::Set(d, 3.9f));
    V u = hn::Mul(z, z);
    V num = poly(u, 2.05052447e-6f, 2.87446572e-4f, 0.00383628975f, 0.0529651158f, 0.191926926f,
                 1.12837899f);
    V den = poly(u, 3.82316139e-5f, 0.0011815970f, 0.0151080284f, 0.114752434f, 0.503422618f, 1.0f);
    V half = hn::Mul(hn::Set(d, 0.5f), x);
    return hn::MulAdd(half, hn::Div(hn::Mul(z, num), den), half);
}

// 1 / (1 + exp(-x))
template <class Tag>
HWY_INLINE hn::Vec<Tag> sigmoid(Tag d, hn::Vec<Tag> x) {
    const auto one = hn::Set(d, 1.0f);
    return hn::Div(one, hn::Add(one, hn::Exp(d, hn::Neg(x))));
}

HWY_INLINE V activated(Activation f, V x) {
    switch (f) {
        case Activation::gelu: return gelu_of(x);
        case Activation::silu: return hn::Mul(x, sigmoid(D(), x));
        case Activation::relu: return hn::Max(x, hn::Zero(D()));
        default: return x;
    }
}

}  // namespace transcribe::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
