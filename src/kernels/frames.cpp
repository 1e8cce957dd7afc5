#include "kernels/frames.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/frames.cpp"
#include <hwy/foreach_target.h>
// after foreach_target.h
#include "kernels/activation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace transcribe::kernels::HWY_NAMESPACE {

using One = hn::CappedTag<float, 1>;  // for the channels that fill no vector

inline size_t own_frames(const std::int32_t* lengths, size_t batch, size_t n_frames) {
    return lengths ? std::min(n_frames, static_cast<size_t>(lengths[batch])) : n_frames;
}

// The part of an input that an output at `out` sees: rows or columns [first, last), of which the
// first meets weight `tap`.
struct Seen {
    size_t first, last, tap;
};
inline Seen seen_by(size_t out, size_t n) {
    size_t first = out > 0 ? 2 * out - 1 : 0;
    return {first, std::min(n, 2 * out + 2), out > 0 ? size_t{0} : size_t{1}};
}

// One output position, the channels from `c` on that fill a vector.
template <class Tag>
HWY_INLINE void halve_at(const Halving& p, const float* x, const Seen& t, const Seen& f, size_t c,
                         float* y) {
    const Tag d;
    const size_t n_in = p.one_channel ? 1 : p.n_channels;
    auto sum = hn::LoadU(d, p.bias + c);
    for (size_t row = t.first; row < t.last; row++) {
        const float* w = p.w + ((t.tap + row - t.first) * 3 + f.tap) * p.n_channels + c;
        const float* from = x + (row * p.n_width + f.first) * n_in;
        for (size_t column = f.first; column < f.last; column++) {
            auto value = p.one_channel ? hn::Set(d, *from) : hn::LoadU(d, from + c);
            sum = hn::MulAdd(hn::LoadU(d, w), value, sum);
            w += p.n_channels, from += n_in;
        }
    }
    hn::StoreU(p.relu ? hn::Max(sum, hn::Zero(d)) : sum, d, y + c);
}

void run_halving(const Halving& p, size_t i, size_t n) {
    const size_t n_rows = p.n_frames_out() * p.n_batch, n_in = p.one_channel ? 1 : p.n_channels;
    for (size_t row = n_rows * i / n; row < n_rows * (i + 1) / n; row++) {
        const size_t batch = row / p.n_frames_out();
        const float* x = p.x + batch * p.n_frames * p.n_width * n_in;
        Seen t = seen_by(row % p.n_frames_out(), own_frames(p.lengths, batch, p.n_frames));
        t.last = std::max(t.first, t.last);
        for (size_t column = 0; column < p.n_width_out(); column++) {
            const Seen f = seen_by(column, p.n_width);
            float* y = p.y + (row * p.n_width_out() + column) * p.n_channels;
            size_t c = 0;
            for (; c + n_lanes <= p.n_channels; c += n_lanes) halve_at<D>(p, x, t, f, c, y);
            for (; c < p.n_channels; c++) halve_at<One>(p, x, t, f, c, y);
        }
    }
}

// A vector of channels of one of the batch. `gated` holds n_frames + n_taps - 1 vectors, zeros at
// both ends.
template <class Tag>
HWY_INLINE void gated_channels(const GatedConv& p, size_t batch, size_t c, float* gated) {
    const Tag d;
    const size_t n_wide = hn::Lanes(d), n_own = own_frames(p.lengths, batch, p.n_frames);
    const float* x = p.x + batch * p.n_frames * 2 * p.n_channels + c;
    float* to = gated + p.n_taps / 2 * n_wide;
    std::fill(gated, to, 0.0f);
    for (size_t t = 0; t < n_own; t++, x += 2 * p.n_channels) {
        auto gate = sigmoid(d, hn::LoadU(d, x + p.n_channels));
        hn::StoreU(hn::Mul(hn::LoadU(d, x), gate), d, to + t * n_wide);
    }
    std::fill(to + n_own * n_wide, gated + (p.n_frames + p.n_taps - 1) * n_wide, 0.0f);
    float* y = p.y + batch * p.n_frames * p.n_channels + c;
    for (size_t t = 0; t < p.n_frames; t++, y += p.n_channels) {
        auto sum = hn::LoadU(d, p.bias + c);
        for (size_t k = 0; k < p.n_taps; k++) {
            sum = hn::MulAdd(hn::LoadU(d, p.w + k * p.n_channels + c),
                             hn::LoadU(d, gated + (t + k) * n_wide), sum);
        }
        hn::StoreU(hn::Mul(sum, sigmoid(d, sum)), d, y);
    }
}

void run_gated_conv(const GatedConv& p, size_t i, size_t n) {
    const size_t n_blocks = (p.n_channels + n_lanes - 1) / n_lanes, n_all = n_blocks * p.n_batch;
    float* gated = scratch<1>((p.n_frames + p.n_taps - 1) * n_lanes);
    for (size_t at = n_all * i / n; at < n_all * (i + 1) / n; at++) {
        const size_t batch = at / n_blocks, first = at % n_blocks * n_lanes;
        if (first + n_lanes <= p.n_channels) {
            gated_channels<D>(p, batch, first, gated);
            continue;
        }
        for (size_t c = first; c < p.n_channels; c++) gated_channels<One>(p, batch, c, gated);
    }
}

}  // namespace transcribe::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace transcribe::kernels {

HWY_EXPORT(run_halving);
HWY_EXPORT(run_gated_conv);

void halving(const Halving& c, size_t i, size_t n) {
    HWY_DYNAMIC_DISPATCH(run_halving)(c, i, n);
}

void gated_conv(const GatedConv& c, size_t i, size_t n) {
    HWY_DYNAMIC_DISPATCH(run_gated_conv)(c, i, n);
}

}  // namespace transcribe::kernels
#endif
