// What attention with few and with many queries share, compiled once for each kind of processor.
#if defined(TRANSCRIBE_HEADS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRANSCRIBE_HEADS_INL_H_
#undef TRANSCRIBE_HEADS_INL_H_
#else
#define TRANSCRIBE_HEADS_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>

#include <limits>

#include "kernels/attention.h"
#include "kernels/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace transcribe::kernels::HWY_NAMESPACE {

// As ggml stores 32 numbers of 8 bits.
struct Q8Block {
    hwy::float16_t unit;
    std::int8_t q[32];
};
static_assert(sizeof(Q8Block) == 34);
constexpr size_t n_block_values = 32;

HWY_INLINE V unit_of(const Q8Block& block) {
    return hn::Set(D(), wide_one(block.unit));
}

HWY_INLINE V wide(const std::int8_t* p) {
    const hn::RebindToSigned<D> whole;
    const hn::Rebind<std::int8_t, D> narrow;
    return hn::ConvertTo(D(), hn::PromoteTo(whole, hn::LoadU(narrow, p)));
}

inline size_t head_bytes(Stored type, size_t n) {
    if (type == Stored::q8_0) return n / n_block_values * sizeof(Q8Block);
    return n * (type == Stored::f32 ? 4 : 2);
}

inline const char* head_at(const Memory& m, const Attention& a, size_t batch, size_t head) {
    size_t kv_head = head / (a.n_heads / a.n_kv_heads);
    return static_cast<const char*>(m.data) + batch * m.batch_stride_bytes +
           head_bytes(m.type, kv_head * a.d_head);
}

// Rows of a head, widened, `width` floats each: those behind the head's own are 0.
template <class T>
void widen_head(const Memory& m, const char* rows, const Attention& a, size_t width, float* to) {
    for (size_t s = 0; s < a.n_keys; s++, to += width) {
        widen_row(reinterpret_cast<const T*>(rows + s * m.stride_bytes), a.d_head, to);
        std::fill(to + a.d_head, to + width, 0.0f);
    }
}

template <>
inline void widen_head<Q8Block>(const Memory& m, const char* rows, const Attention& a, size_t width,
                                float* to) {
    for (size_t s = 0; s < a.n_keys; s++, to += width) {
        const auto* blocks = reinterpret_cast<const Q8Block*>(rows + s * m.stride_bytes);
        for (size_t c = 0; c < a.d_head; c += n_lanes) {
            const Q8Block& block = blocks[c / n_block_values];
            V values = hn::Mul(wide(block.q + c % n_block_values), unit_of(block));
            hn::StoreU(values, D(), to + c);
        }
        std::fill(to + a.d_head, to + width, 0.0f);
    }
}

// Scores of one query become score * scale + mask; gives the largest. What lies between n_keys and
// the next whole vector becomes the smallest.
inline V scale_scores(float* scores, const Attention& a, const std::uint16_t* mask) {
    const D d;
    const V scale = hn::Set(d, a.scale);
    const size_t n = a.n_keys;
    for (size_t s = n; s % n_lanes; s++) scores[s] = -std::numeric_limits<float>::infinity();
    V top = hn::Set(d, -std::numeric_limits<float>::infinity());
    const auto* bits = reinterpret_cast<const hwy::float16_t*>(mask);
    for (size_t s = 0; s < n; s += n_lanes) {
        V score = hn::Mul(hn::LoadU(d, scores + s), scale);
        if (mask && s + n_lanes <= n) score = hn::Add(score, wide(bits + s));
        hn::StoreU(score, d, scores + s);
        if (mask && s + n_lanes > n) {
            for (size_t i = s; i < n; i++) scores[i] += wide_one(bits[i]);
            score = hn::LoadU(d, scores + s);
        }
        top = hn::Max(top, score);
    }
    return hn::MaxOfLanes(d, top);
}

// Scores of one query become exp(score * scale + mask - maximum); gives their sum.
inline float exponentials(float* scores, const Attention& a, const std::uint16_t* mask) {
    const D d;
    const V top = scale_scores(scores, a, mask);
    V sum = hn::Zero(d);
    for (size_t s = 0; s < a.n_keys; s += n_lanes) {
        V e = hn::Exp(d, hn::Sub(hn::LoadU(d, scores + s), top));
        hn::StoreU(e, d, scores + s);
        sum = hn::Add(sum, e);
    }
    return hn::GetLane(hn::SumOfLanes(d, sum));
}

constexpr size_t n_block = 2 * n_tile;  // queries whose scores are held at once

struct Unit {  // a head of one of the batch
    size_t batch, head;
};

inline const std::uint16_t* mask_row(const Attention& a, size_t batch, size_t query) {
    return a.mask ? a.mask + (batch * a.n_queries + query) * a.mask_stride : nullptr;
}

inline size_t query_at(const Attention& a, const Unit& u, size_t query) {
    return ((u.batch * a.n_queries + query) * a.n_heads + u.head) * a.d_head;
}

}  // namespace transcribe::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
