#include "kernels/attention.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention.cpp"
#include <hwy/foreach_target.h>
// after foreach_target.h
#include "kernels/few_queries-inl.h"
#include "kernels/int8_attention-inl.h"

HWY_BEFORE_NAMESPACE();
namespace transcribe::kernels::HWY_NAMESPACE {

constexpr size_t n_few_queries = 12;

inline bool is_few(const Attention& a) {
    return a.n_queries < n_few_queries && !a.positions && !a.n_keys_of;
}

// Keys and values of a head, packed: keys and positions as panels, values as rows that are whole
// panels wide.
struct Packed {
    float *keys, *values, *scores, *positions;
    size_t n_scores;  // a query
    size_t n_value;   // floats of a value
};

// The panels of `n` rows of a head.
template <class T, class Dot>
void pack_panels(const char* rows, size_t stride_bytes, size_t n, size_t d_head, float* to) {
    for (size_t s = 0; s < n; s += n_panel) {
        float* panel = to + s * Dot::deep(d_head);
        float* columns = Dot::is_paired ? scratch<0>(d_head * n_panel) : panel;
        pack<T>(rows + s * stride_bytes, stride_bytes, std::min(n_panel, n - s), d_head, columns);
        if (Dot::is_paired) pair_rows(columns, d_head, n_panel, panel);
    }
}

template <class K, class W, class Dot>
Packed pack_head(const Attention& a, const Unit& u) {
    Packed p;
    p.n_scores = (a.n_keys + n_panel - 1) / n_panel * n_panel;
    p.n_value = (a.d_head + n_panel - 1) / n_panel * n_panel;
    p.keys = scratch<1>(p.n_scores * Dot::deep(a.d_head));
    p.values = scratch<2>(a.n_keys * p.n_value);
    p.scores = scratch<3>(n_block * p.n_scores);
    pack_panels<K, Dot>(head_at(a.k, a, u.batch, u.head), a.k.stride_bytes, a.n_keys, a.d_head,
                        p.keys);
    widen_head<W>(a.v, head_at(a.v, a, u.batch, u.head), a, p.n_value, p.values);
    if (Dot::is_paired) pair_rows(p.values, a.n_keys, p.n_value, p.values);
    if (!a.positions) return p;
    const size_t n_positions = 2 * a.n_queries - 1, stride = a.n_heads * a.d_head;
    p.positions = scratch<4>((n_positions + n_panel) * Dot::deep(a.d_head));
    const auto* table = reinterpret_cast<const char*>(a.positions->table + u.head * a.d_head);
    pack_panels<float, Dot>(table, stride * sizeof(float), n_positions, a.d_head, p.positions);
    return p;
}

// A run of queries of a head: rows of d_head.
struct Queries {
    const float* at;
    size_t stride, n;
};

// Scores of queries with the panels of rows [first, last); `to` begins with row `first`, which
// begins a panel.
template <class Dot>
void scores_with(const Queries& q, const float* panels, size_t d_head, size_t first, size_t last,
                 float* to, size_t n_scores) {
    auto as_is = [](V sum, size_t) { return sum; };
    for (size_t s = first; s < last; s += n_panel) {
        tiles<Dot>(q.at, {q.stride, 1}, q.n, panels + s * Dot::deep(d_head), n_panel,
                   Dot::deep(d_head), to + (s - first), n_scores, n_panel, as_is);
    }
}

// Queries as products take them, with a bias of their head where there is one.
template <class Dot>
Queries prepared(const Queries& q, const float* bias, size_t d_head) {
    if (!bias && !Dot::is_paired) return q;
    float* to = scratch<5>(n_block * (d_head + 1));
    for (size_t i = 0; i < q.n; i++) {
        float* row = to + i * d_head;
        for (size_t c = 0; c < d_head; c++) row[c] = q.at[i * q.stride + c] + (bias ? bias[c] : 0);
        if (Dot::is_paired) pair_row(row, d_head);
    }
    return {to, d_head, q.n};
}

// Position i - j stands in row n_queries - 1 - i + j of the table, so each query adds a run of what
// it scores with the rows of the whole block: the reference's shift, without a copy.
template <class Dot>
void add_positions(const Attention& a, const Unit& u, const Packed& p, size_t query,
                   const Queries& q) {
    const D d;
    const size_t last_query = query + q.n - 1, zero = a.n_queries - 1;
    const size_t begin = (zero - last_query) / n_panel * n_panel, end = zero - query + a.n_keys;
    const size_t n_scores = (end - begin + n_panel - 1) / n_panel * n_panel;
    float* scores = scratch<6>(n_block * (a.n_queries + n_block + 2 * n_panel));
    Queries own = prepared<Dot>(q, a.positions->to_positions + u.head * a.d_head, a.d_head);
    scores_with<Dot>(own, p.positions, a.d_head, begin, end, scores, n_scores);
    for (size_t i = 0; i < q.n; i++) {
        const float* from = scores + i * n_scores + (zero - query - i - begin);
        float* to = p.scores + i * p.n_scores;
        size_t s = 0;
        for (; s + n_lanes <= a.n_keys; s += n_lanes) {
            hn::StoreU(hn::Add(hn::LoadU(d, to + s), hn::LoadU(d, from + s)), d, to + s);
        }
        for (; s < a.n_keys; s++) to[s] += from[s];
    }
}

template <class Dot>
void block(const Attention& a, const Unit& u, const Packed& p, size_t query, size_t n) {
    const size_t stride = a.n_heads * a.d_head;
    const Queries q{a.q + query_at(a, u, query), stride, n};
    const Positions* positions = a.positions;
    const float* to_keys = positions ? positions->to_keys + u.head * a.d_head : nullptr;
    scores_with<Dot>(prepared<Dot>(q, to_keys, a.d_head), p.keys, a.d_head, 0, a.n_keys, p.scores,
                     p.n_scores);
    if (positions) add_positions<Dot>(a, u, p, query, q);
    float inverse[n_block];
    for (size_t i = 0; i < n; i++) {
        const std::uint16_t* mask = mask_row(a, u.batch, query + i);
        float* scores = p.scores + i * p.n_scores;
        inverse[i] = 1.0f / exponentials(scores, a, mask);
        if (Dot::is_paired) pair_row(scores, a.n_keys);
    }
    float* out = a.out + query_at(a, u, query);
    for (size_t c = 0; c < a.d_head; c += n_panel) {
        tiles<Dot>(p.scores, {p.n_scores, 1}, n, p.values + c, p.n_value, Dot::deep(a.n_keys),
                   out + c, stride, std::min(n_panel, a.d_head - c),
                   [](V sum, size_t) { return sum; });
    }
    for (size_t i = 0; i < n; i++) {
        float* row = out + i * stride;
        for (size_t c = 0; c < a.d_head; c++) row[c] *= inverse[i];
    }
}

// Shares are runs of blocks of queries; each head in a run is packed once.
template <class Pack, class Block>
void many_queries(const Attention& all, size_t i, size_t n, const Pack& pack_one,
                  const Block& compute) {
    Attention a = all;
    size_t n_blocks = (a.n_queries + n_block - 1) / n_block;
    size_t n_all = n_blocks * a.n_heads * a.n_batch;
    size_t packed_unit = n_all;
    decltype(pack_one(a, Unit{})) packed{};
    for (size_t at = n_all * i / n; at < n_all * (i + 1) / n; at++) {
        size_t unit = at / n_blocks, query = at % n_blocks * n_block;
        Unit u{unit / a.n_heads, unit % a.n_heads};
        if (a.n_keys_of) a.n_keys = static_cast<size_t>(a.n_keys_of[u.batch]);
        if (unit != packed_unit) packed = pack_one(a, u);
        packed_unit = unit;
        compute(a, u, packed, query, std::min(n_block, a.n_queries - query));
    }
}

template <class T>
void many_in_int8(const Attention& a, size_t i, size_t n) {
    const bool native = is_native(Rounding::int8);
    many_queries(a, i, n, pack_int8_head<T>, native ? int8_block<NativeFours> : int8_block<Fours>);
}

template <class T>
void attention_of(const Attention& a, size_t i, size_t n) {
    if (is_few(a)) return few_queries<T, T>(a, i, n);
    if (a.rounding == Rounding::int8 && !a.positions) return many_in_int8<T>(a, i, n);
    if (a.rounding != Rounding::bf16) {
        return many_queries(a, i, n, pack_head<T, T, Floats>, block<Floats>);
    }
    if (is_native(Rounding::bf16)) {
        return many_queries(a, i, n, pack_head<T, T, NativePairs>, block<NativePairs>);
    }
    many_queries(a, i, n, pack_head<T, T, Pairs>, block<Pairs>);
}

void attention_over_blocks(const Attention& a, size_t i, size_t n) {
    if (is_few(a)) return few_queries<Q8Block, Q8Block>(a, i, n);
    many_in_int8<Q8Block>(a, i, n);
}

void run_attention(const Attention& a, size_t i, size_t n) {
    switch (a.k.type) {
        case Stored::f32: return attention_of<float>(a, i, n);
        case Stored::f16: return attention_of<hwy::float16_t>(a, i, n);
        case Stored::bf16: return attention_of<hwy::bfloat16_t>(a, i, n);
        case Stored::q8_0: return attention_over_blocks(a, i, n);
        case Stored::blocks: return;  // no cache is stored so
    }
}

}  // namespace transcribe::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace transcribe::kernels {

HWY_EXPORT(run_attention);

bool attention_fits(size_t d_head, Stored type) {
    if (type == Stored::blocks) return false;
    if (type == Stored::q8_0 && d_head % 32 != 0) return false;
    return d_head % n_vector_lanes() == 0;
}

void attention(const Attention& a, size_t i, size_t n) {
    HWY_DYNAMIC_DISPATCH(run_attention)(a, i, n);
}

}  // namespace transcribe::kernels
#endif
