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
    head.n_scores = (a.n_keys + n_panel - 1) / n_panel * n_panel;
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

// 2^x for x <= 0 to 1e-4 of it, which is finer than what it is rounded to.
HWY_INLINE V rough_exp2(V x) {
    const D d;
    const DI di;
    x = hn::Max(x, hn::Set(d, -126.0f));
    VI whole = hn::NearestInt(x);
    V rest = hn::Sub(x, hn::ConvertTo(d, whole));
    V p = hn::MulAdd(rest, hn::Set(d, 0.0558011f), hn::Set(d, 0.2402265f));
    p = hn::MulAdd(p, rest, hn::Set(d, 0.6931472f));
    p = hn::MulAdd(p, rest, hn::Set(d, 1.0f));
    VI power = hn::ShiftLeft<23>(hn::Add(whole, hn::Set(di, 127)));
    return hn::Mul(p, hn::BitCast(d, power));
}

// Scores of one query become what it weighs its keys by, in unsigned groups; `units` takes their
// sum into account.
inline void int8_weights(float* scores, const Attention& a, const std::uint16_t* mask, float* fours,
                         float* units) {
    const D d;
    const V top = scale_scores(scores, a, mask), log2_e = hn::Set(d, 1.44269504f);
    auto* to = reinterpret_cast<std::uint8_t*>(fours);
    V sum = hn::Zero(d);
    float* own_units = units;
    for (size_t first = 0; first < a.n_keys; first += n_group, own_units += 2) {
        HWY_ALIGN float group[n_group];
        V largest = hn::Zero(d);
        for (size_t i = 0; i < n_group; i += n_lanes) {
            V e = hn::Zero(d);
            if (first + i < a.n_keys) {
                V below = hn::Sub(hn::LoadU(d, scores + first + i), top);
                e = rough_exp2(hn::Mul(below, log2_e));
            }
            hn::Store(e, d, group + i);
            sum = hn::Add(sum, e);
            largest = hn::Max(largest, e);
        }
        const float most_of_all = hn::GetLane(hn::MaxOfLanes(d, largest));
        own_units[0] = most_of_all / most_unsigned;
        own_units[1] = 0;
        round_group(group, inverse_of(most_of_all, most_unsigned), to + first);
    }
    const float inverse = 1.0f / hn::GetLane(hn::SumOfLanes(d, sum));
    for (float* unit = units; unit < own_units; unit += 2) *unit *= inverse;
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
