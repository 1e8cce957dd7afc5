// Attention of many queries in 8 bits: queries with keys, and what a query weighs keys by with
// values, are products of 8-bit numbers (kernels/int8-inl.h); the softmax between is in F32.
// Compiled once for each kind of processor.
#if defined(TRANSCRIBE_INT8_ATTENTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRANSCRIBE_INT8_ATTENTION_INL_H_
#undef TRANSCRIBE_INT8_ATTENTION_INL_H_
#else
#define TRANSCRIBE_INT8_ATTENTION_INL_H_
#endif

#include "kernels/heads-inl.h"
#include "kernels/int8-inl.h"

HWY_BEFORE_NAMESPACE();
namespace transcribe::kernels::HWY_NAMESPACE {

struct Int8Head {
    float *keys, *values;  // panels
    size_t n_scores;       // a query: whole panels
};

// mean[c] of all keys; `keys` [n_keys, d_head], widened, have it taken away. What it would add to
// the scores of a query is the same for all keys, and softmax does not see it; without it less is
// lost by rounding.
inline void remove_mean(float* keys, size_t n_keys, size_t d_head, float* mean) {
    std::fill_n(mean, d_head, 0.0f);
    for (size_t s = 0; s < n_keys; s++) {
        for (size_t c = 0; c < d_head; c++) mean[c] += keys[s * d_head + c];
    }
    for (size_t c = 0; c < d_head; c++) mean[c] /= static_cast<float>(n_keys);
    for (size_t s = 0; s < n_keys; s++) {
        for (size_t c = 0; c < d_head; c++) keys[s * d_head + c] -= mean[c];
    }
}

template <class T>
Int8Head pack_int8_head(const Attention& a, const Unit& u) {
    Int8Head head;
    head.n_scores = n_groups(a.n_keys) * n_group;  // whole panels
    head.keys = scratch<1>(head.n_scores * Fours::deep(a.d_head));
    const size_t n_value = (a.d_head + n_panel - 1) / n_panel * n_panel;
    head.values = scratch<2>(n_value * Fours::deep(a.n_keys));
    float* rows = scratch<4>(a.n_keys * n_value);
    widen_head<T>(a.k, head_at(a.k, a, u.batch, u.head), a, a.d_head, rows);
    remove_mean(rows, a.n_keys, a.d_head, scratch<0>(a.d_head * n_panel));
    float* columns = scratch<0>(a.d_head * n_panel);
    const size_t row_bytes = a.d_head * sizeof(float);
    for (size_t s = 0; s < a.n_keys; s += n_panel) {
        pack<float>(reinterpret_cast<const char*>(rows + s * a.d_head), row_bytes,
                    std::min(n_panel, a.n_keys - s), a.d_head, columns);
        to_int8_panel(columns, n_panel, a.d_head, 128, head.keys + s * Fours::deep(a.d_head));
    }
    widen_head<T>(a.v, head_at(a.v, a, u.batch, u.head), a, n_value, rows);
    for (size_t c = 0; c < n_value; c += n_panel) {
        to_int8_panel(rows + c, n_value, a.n_keys, 0, head.values + c * Fours::deep(a.n_keys));
    }
    return head;
}

constexpr float log2_of_most = 7.99435344f;  // of most_unsigned
// Adding it to a float and taking it away again rounds to the nearest whole number, which then
// stands in the low bits of the sum.
constexpr float whole_at = 12582912;  // 1.5 * 2^23

// 2^x for x <= 8 to 1e-4 of it, which is finer than what it is rounded to.
HWY_INLINE V rough_exp2(V x) {
    const D d;
    const DI di;
    x = hn::Max(x, hn::Set(d, -100.0f));
    const V whole = hn::Add(x, hn::Set(d, whole_at));
    const V rest = hn::Sub(x, hn::Sub(whole, hn::Set(d, whole_at)));
    V p = hn::MulAdd(rest, hn::Set(d, 0.0558011f), hn::Set(d, 0.2402265f));
    p = hn::MulAdd(p, rest, hn::Set(d, 0.6931472f));
    p = hn::MulAdd(p, rest, hn::Set(d, 1.0f));
    const VI power = hn::ShiftLeft<23>(hn::BitCast(di, whole));
    return hn::BitCast(d, hn::Add(hn::BitCast(di, p), power));
}

// largest[g] of each of the groups of scores; gives the largest of all.
inline float group_maxima(const float* scores, size_t n, float* largest) {
    const D d;
    const float lowest = std::numeric_limits<float>::lowest();
    float top = lowest;
    for (size_t first = 0; first < n; first += n_group, largest++) {
        V in_group = hn::Set(d, lowest);
        for (size_t i = first; i < first + n_group; i += n_lanes) {
            in_group = hn::Max(in_group, hn::LoadU(d, scores + i));
        }
        *largest = hn::GetLane(hn::MaxOfLanes(d, in_group));
        top = std::max(top, *largest);
    }
    return top;
}

// Scores of one query become what it weighs its keys by, in unsigned groups; what was lost by
// rounding is made up by `units`: the weights sum to 1. Behind n_keys there is room for a group.
inline void int8_weights(float* scores, const Attention& a, const std::uint16_t* mask, float* fours,
                         float* units) {
    const D d;
    const hn::RebindToUnsigned<D> bits;
    const hn::Rebind<std::uint8_t, D> bytes;
    if (mask) scale_scores(scores, a, mask);
    const V factor = hn::Set(d, 1.44269504f * (mask ? 1.0f : a.scale));
    const size_t n_all = n_groups(a.n_keys);
    std::fill(scores + a.n_keys, scores + n_all * n_group, -std::numeric_limits<float>::infinity());
    float* largest = scratch<7>(2 * (n_all + n_lanes));
    float* own_units = largest + n_all + n_lanes;
    std::fill_n(largest + n_all, n_lanes, 0.0f);
    const V top = hn::Set(d, group_maxima(scores, n_all * n_group, largest));
    for (size_t g = 0; g < n_all; g += n_lanes) {
        V unit = rough_exp2(hn::Mul(hn::Sub(hn::LoadU(d, largest + g), top), factor));
        hn::StoreU(hn::Mul(unit, hn::Set(d, 1 / most_unsigned)), d, own_units + g);
    }
    auto* to = reinterpret_cast<std::uint8_t*>(fours);
    V sum = hn::Zero(d);
    for (size_t g = 0; g < n_all; g++) {
        const V of_group = hn::Set(d, largest[g]), whole = hn::Set(d, whole_at);
        V sum_of_group = hn::Zero(d);
        for (size_t i = g * n_group; i < (g + 1) * n_group; i += n_lanes) {
            const V below = hn::Sub(hn::LoadU(d, scores + i), of_group);
            const V weight = rough_exp2(hn::MulAdd(below, factor, hn::Set(d, log2_of_most)));
            const V rounded = hn::Add(weight, whole);
            hn::StoreU(hn::TruncateTo(bytes, hn::BitCast(bits, rounded)), bytes, to + i);
            sum_of_group = hn::Add(sum_of_group, hn::Sub(rounded, whole));
        }
        sum = hn::MulAdd(sum_of_group, hn::Set(d, own_units[g]), sum);
    }
    const float inverse = 1.0f / hn::GetLane(hn::SumOfLanes(d, sum));
    for (size_t g = 0; g < n_all; g++) {
        units[2 * g] = own_units[g] * inverse;
        units[2 * g + 1] = 0;
    }
}

template <class Dot>
void int8_block(const Attention& a, const Unit& u, const Int8Head& head, size_t query, size_t n) {
    const size_t stride = a.n_heads * a.d_head;
    auto as_is = [](V sum, size_t) { return sum; };
    auto rows_of = [](float* memory, size_t n_groups_all) {
        float* units = memory + n_block * n_groups_all * n_fours;
        return Int8Rows{memory, {n_groups_all * n_fours, 1}, units, {2 * n_groups_all, 2}};
    };
    const size_t n_q = n_groups(a.d_head), n_w = n_groups(a.n_keys);
    float* memory = scratch<5>(n_block * n_q * (n_fours + 2));
    const float* q = a.q + query_at(a, u, query);
    Int8Rows queries = rows_of(memory, n_q);
    for (size_t i = 0; i < n; i++) {
        float* units = memory + n_block * n_q * n_fours + i * 2 * n_q;
        to_int8_row(q + i * stride, a.d_head, memory + i * n_q * n_fours, units, 2);
    }
    float* scores = scratch<3>(n_block * head.n_scores);
    for (size_t s = 0; s < a.n_keys; s += n_panel) {
        int8_tiles<Dot>(queries, n, head.keys + s * Fours::deep(a.d_head), a.d_head, scores + s,
                        head.n_scores, n_panel, as_is);
    }
    memory = scratch<6>(n_block * n_w * (n_fours + 2));
    Int8Rows weights = rows_of(memory, n_w);
    for (size_t i = 0; i < n; i++) {
        int8_weights(scores + i * head.n_scores, a, mask_row(a, u.batch, query + i),
                     memory + i * n_w * n_fours, memory + n_block * n_w * n_fours + i * 2 * n_w);
    }
    float* out = a.out + query_at(a, u, query);
    for (size_t c = 0; c < a.d_head; c += n_panel) {
        int8_tiles<Unsigned<Dot>>(weights, n, head.values + c * Fours::deep(a.n_keys), a.n_keys,
                                  out + c, stride, std::min(n_panel, a.d_head - c), as_is);
    }
}

}  // namespace transcribe::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
