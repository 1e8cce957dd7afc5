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
    head.keys = scratch<1>(n_groups(a.n_keys) * n_group * Fours::deep(a.d_head));
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

constexpr float log2_of_255 = 7.99435344f;

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

constexpr float lowest = std::numeric_limits<float>::lowest();

// What a query weighs a group of keys by, 255 for the largest: its score, and their sum.
struct GroupOfWeights {
    float largest, sum;
};

// `scores` of a group become weights: 255 * 2^(factor * (score - largest)).
HWY_INLINE GroupOfWeights to_weights(const float* scores, float factor, std::uint8_t* to) {
    const D d;
    const hn::RebindToUnsigned<D> bits;
    const hn::Rebind<std::uint8_t, D> bytes;
    V largest = hn::LoadU(d, scores);
    for (size_t i = n_lanes; i < n_group; i += n_lanes) {
        largest = hn::Max(largest, hn::LoadU(d, scores + i));
    }
    largest = hn::Max(hn::MaxOfLanes(d, largest), hn::Set(d, lowest));
    const V whole = hn::Set(d, whole_at), log2_e = hn::Set(d, factor);
    V sum = hn::Zero(d);
    for (size_t i = 0; i < n_group; i += n_lanes) {
        const V below = hn::Sub(hn::LoadU(d, scores + i), largest);
        const V weight = rough_exp2(hn::MulAdd(below, log2_e, hn::Set(d, log2_of_255)));
        const V rounded = hn::Add(weight, whole);
        hn::StoreU(hn::TruncateTo(bytes, hn::BitCast(bits, rounded)), bytes, to + i);
        sum = hn::Add(sum, hn::Sub(rounded, whole));
    }
    return {hn::GetLane(largest), hn::GetLane(hn::SumOfLanes(d, sum))};
}

// The groups of a query, with room for a vector more, become units: the weights, as they were
// rounded, sum to 1.
inline void to_units(float* groups, size_t n, float factor) {
    const D d;
    for (; n % n_lanes; n++) {
        groups[2 * n] = lowest;
        groups[2 * n + 1] = 0;
    }
    V largest, sums, top = hn::Set(d, lowest), sum = hn::Zero(d);
    for (size_t g = 0; g < n; g += n_lanes) {
        hn::LoadInterleaved2(d, groups + 2 * g, largest, sums);
        top = hn::Max(top, largest);
    }
    top = hn::MaxOfLanes(d, top);
    for (size_t g = 0; g < n; g += n_lanes) {
        hn::LoadInterleaved2(d, groups + 2 * g, largest, sums);
        V unit = rough_exp2(hn::Mul(hn::Sub(largest, top), hn::Set(d, factor)));
        sum = hn::MulAdd(unit, sums, sum);
        hn::StoreInterleaved2(unit, hn::Zero(d), d, groups + 2 * g);
    }
    const V inverse = hn::Div(hn::Set(d, 1.0f), hn::SumOfLanes(d, sum));
    for (size_t i = 0; i < 2 * n; i += n_lanes) {
        hn::StoreU(hn::Mul(hn::LoadU(d, groups + i), inverse), d, groups + i);
    }
}

// What a block of queries holds: rows of whole groups, and their units.
struct Int8Block {
    float *fours, *units;
    size_t n_fours_of_row, n_units_of_row;

    template <int slot>
    static Int8Block of(size_t n_in) {
        const size_t n_units = 2 * ((n_groups(n_in) + n_lanes - 1) / n_lanes * n_lanes);
        const size_t n_row = n_groups(n_in) * n_fours;
        float* memory = scratch<slot>(n_block * (n_row + n_units));
        return {memory, memory + n_block * n_row, n_row, n_units};
    }
    Int8Rows rows() const { return {fours, {n_fours_of_row, 1}, units, {n_units_of_row, 2}}; }
};

inline Int8Block int8_queries(const Attention& a, const float* q, size_t n) {
    auto queries = Int8Block::of<5>(a.d_head);
    for (size_t i = 0; i < n; i++) {
        to_int8_row(q + i * a.n_heads * a.d_head, a.d_head,
                    queries.fours + i * queries.n_fours_of_row,
                    queries.units + i * queries.n_units_of_row, 2);
    }
    return queries;
}

struct AsIs {
    HWY_INLINE V operator()(V sum, size_t) const { return sum; }
};

// score * scale + mask
inline void add_mask(float* scores, float scale, const std::uint16_t* mask, size_t n) {
    const auto* bits = reinterpret_cast<const hwy::float16_t*>(mask);
    for (size_t i = 0; i < n; i++) scores[i] = scores[i] * scale + wide_one(bits[i]);
}

// Softmax of the scores of n queries, group by group of the keys, so that the scores stay close.
template <class Dot>
Int8Block int8_weights(const Attention& a, const Unit& u, const Int8Head& head, size_t query,
                       size_t n) {
    const Int8Rows queries = int8_queries(a, a.q + query_at(a, u, query), n).rows();
    auto weights = Int8Block::of<6>(a.n_keys);
    HWY_ALIGN float scores[n_block * n_group];
    const float factor = 1.44269504f * (a.mask ? 1.0f : a.scale);
    for (size_t g = 0; g < n_groups(a.n_keys); g++) {
        const size_t first = g * n_group, n_own = std::min(n_group, a.n_keys - first);
        for (size_t s = 0; s < n_own; s += n_panel) {
            int8_tiles<Dot>(queries, n, head.keys + (first + s) * Fours::deep(a.d_head), a.d_head,
                            scores + s, n_group, n_panel, AsIs());
        }
        for (size_t i = 0; i < n; i++) {
            float* own = scores + i * n_group;
            if (a.mask) add_mask(own, a.scale, mask_row(a, u.batch, query + i) + first, n_own);
            std::fill(own + n_own, own + n_group, -std::numeric_limits<float>::infinity());
            float* row = weights.fours + i * weights.n_fours_of_row + g * n_fours;
            auto group = to_weights(own, factor, reinterpret_cast<std::uint8_t*>(row));
            std::memcpy(weights.units + i * weights.n_units_of_row + 2 * g, &group, sizeof group);
        }
    }
    for (size_t i = 0; i < n; i++) {
        to_units(weights.units + i * weights.n_units_of_row, n_groups(a.n_keys), factor);
    }
    return weights;
}

template <class Dot>
void int8_block(const Attention& a, const Unit& u, const Int8Head& head, size_t query, size_t n) {
    const Int8Rows weights = int8_weights<Dot>(a, u, head, query, n).rows();
    float* out = a.out + query_at(a, u, query);
    for (size_t c = 0; c < a.d_head; c += n_panel) {
        int8_tiles<Unsigned<Dot>>(weights, n, head.values + c * Fours::deep(a.n_keys), a.n_keys,
                                  out + c, a.n_heads * a.d_head, std::min(n_panel, a.d_head - c),
                                  AsIs());
    }
}

}  // namespace transcribe::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
