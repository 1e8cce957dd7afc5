#include "kernels/attention.h"

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention.cpp"
#include <hwy/foreach_target.h>
// after foreach_target.h
#include <hwy/contrib/math/math-inl.h>

#include "kernels/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace transcribe::kernels::HWY_NAMESPACE {

constexpr size_t n_few_queries = 12;
constexpr size_t n_block = 2 * n_tile;  // queries whose scores are held at once

inline const char* head_at(const Memory& m, const Attention& a, size_t batch, size_t head) {
    size_t element = m.type == Stored::f32 ? 4 : 2;
    size_t kv_head = head / (a.n_heads / a.n_kv_heads);
    return static_cast<const char*>(m.data) + batch * m.batch_stride_bytes +
           kv_head * a.d_head * element;
}

// Scores of one query become exp(score * scale + mask - maximum); gives their sum. What lies
// between n_keys and the next whole vector is overwritten.
inline float exponentials(float* scores, const Attention& a, const std::uint16_t* mask) {
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
    top = hn::MaxOfLanes(d, top);
    V sum = hn::Zero(d);
    for (size_t s = 0; s < n; s += n_lanes) {
        V e = hn::Exp(d, hn::Sub(hn::LoadU(d, scores + s), top));
        hn::StoreU(e, d, scores + s);
        sum = hn::Add(sum, e);
    }
    return hn::GetLane(hn::SumOfLanes(d, sum));
}

struct Unit {  // a head of one of the batch
    size_t batch, head;
};

inline const std::uint16_t* mask_row(const Attention& a, size_t batch, size_t query) {
    return a.mask ? a.mask + (batch * a.n_queries + query) * a.mask_stride : nullptr;
}

inline size_t query_at(const Attention& a, const Unit& u, size_t query) {
    return ((u.batch * a.n_queries + query) * a.n_heads + u.head) * a.d_head;
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
    const char* values = head_at(a.v, a, u.batch, u.head);
    for (size_t s = 0; s < a.n_keys; s++) {
        float* to = p.values + s * p.n_value;
        widen_row(reinterpret_cast<const W*>(values + s * a.v.stride_bytes), a.d_head, to);
        std::fill(to + a.d_head, to + p.n_value, 0.0f);
    }
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
template <class K, class W, class Dot>
void many_queries(const Attention& all, size_t i, size_t n) {
    Attention a = all;
    size_t n_blocks = (a.n_queries + n_block - 1) / n_block;
    size_t n_all = n_blocks * a.n_heads * a.n_batch;
    size_t packed_unit = n_all;
    Packed p{};
    for (size_t at = n_all * i / n; at < n_all * (i + 1) / n; at++) {
        size_t unit = at / n_blocks, query = at % n_blocks * n_block;
        Unit u{unit / a.n_heads, unit % a.n_heads};
        if (a.n_keys_of) a.n_keys = static_cast<size_t>(a.n_keys_of[u.batch]);
        if (unit != packed_unit) p = pack_head<K, W, Dot>(a, u);
        packed_unit = unit;
        block<Dot>(a, u, p, query, std::min(n_block, a.n_queries - query));
    }
}

// Neighbouring heads of one of the batch. Keys and values lie head after head, so that a run of
// heads is read from memory in one go.
struct Run {
    size_t batch, head_first, n_heads;
    const Attention& a;
    float* scores;    // [n_scores] for each query of each head
    size_t n_scores;  // n_keys and some room
    float* of(size_t h, size_t query) const {
        return scores + (h * a.n_queries + query) * n_scores;
    }
    size_t query_at(size_t h, size_t query) const {
        return HWY_NAMESPACE::query_at(a, {batch, head_first + h}, query);
    }
    // Where each head begins in keys or values; found once, since it takes a division.
    const char** heads_of(const Memory& m, const char** heads) const {
        for (size_t h = 0; h < n_heads; h++) heads[h] = head_at(m, a, batch, head_first + h);
        return heads;
    }
};

constexpr size_t n_run_heads_max = 32;
constexpr size_t n_together = 4;  // keys, of whose products the sums are taken together
constexpr size_t n_room = std::max(n_panel, n_together);  // behind a query's scores

// to[i] = the sum of all lanes of sums[i].
HWY_INLINE void store_sums(const V (&sums)[n_together], float* to) {
#if HWY_TARGET == HWY_SCALAR
    for (size_t i = 0; i < n_together; i++) to[i] = hn::GetLane(sums[i]);
#else
    const D d;
    auto halve = [d](V a, V b) {
        return hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
    };
    // Each block of four lanes then holds a part of all four sums.
    HWY_ALIGN float parts[n_lanes];
    hn::Store(halve(halve(sums[0], sums[2]), halve(sums[1], sums[3])), d, parts);
    const hn::FixedTag<float, n_together> d4;
    auto sum = hn::Load(d4, parts);
    for (size_t i = n_together; i < n_lanes; i += n_together) {
        sum = hn::Add(sum, hn::Load(d4, parts + i));
    }
    hn::StoreU(sum, d4, to);
#endif
}

template <class K>
HWY_INLINE V product_with_key(const K* key, const float* q, size_t d_head) {
    const D d;
    V sum = hn::Zero(d);
    for (size_t c = 0; c < d_head; c += n_lanes) {
        sum = hn::MulAdd(wide_from_stream(key + c), hn::LoadU(d, q + c), sum);
    }
    return sum;
}

// For the last keys `n` is less than n_together; what lies behind their scores is overwritten.
template <class K>
HWY_INLINE void scores_of_keys(const Run& run, const char* const* heads, size_t s, size_t n) {
    const Attention& a = run.a;
    const D d;
    for (size_t h = 0; h < run.n_heads; h++) {
        const char* key = heads[h] + s * a.k.stride_bytes;
        for (size_t t = 0; t < a.n_queries; t++) {
            const float* q = a.q + run.query_at(h, t);
            V sums[n_together];
            for (size_t i = 0; i < n_together; i++) sums[i] = hn::Zero(d);
            for (size_t i = 0; i < n; i++) {
                const auto* at = reinterpret_cast<const K*>(key + i * a.k.stride_bytes);
                sums[i] = product_with_key(at, q, a.d_head);
            }
            store_sums(sums, run.of(h, t) + s);
        }
    }
}

template <class K>
void scores_of(const Run& run) {
    const char* room[n_run_heads_max];
    const char* const* heads = run.heads_of(run.a.k, room);
    const size_t n = run.a.n_keys, n_whole = n / n_together * n_together;
    for (size_t s = 0; s < n_whole; s += n_together) {
        scores_of_keys<K>(run, heads, s, n_together);
    }
    if (n_whole < n) scores_of_keys<K>(run, heads, n_whole, n - n_whole);
}

// out += weights * values, of n keys.
template <class W>
HWY_INLINE void add_values(const float* weights, const char* values, size_t stride_bytes, size_t n,
                           size_t d_head, float* out) {
    const D d;
    for (size_t c = 0; c < d_head; c += n_lanes) {
        V sum = hn::LoadU(d, out + c);
        for (size_t i = 0; i < n; i++) {
            const auto* value = reinterpret_cast<const W*>(values + i * stride_bytes);
            sum = hn::MulAdd(hn::Set(d, weights[i]), wide_from_stream(value + c), sum);
        }
        hn::StoreU(sum, d, out + c);
    }
}

// out = sum over keys of weight * value; what a query gives no weight is not read.
template <class W>
void values_of(const Run& run) {
    const Attention& a = run.a;
    for (size_t t = 0; t < a.n_queries; t++) {
        std::fill_n(a.out + run.query_at(0, t), run.n_heads * a.d_head, 0.0f);
    }
    const char* room[n_run_heads_max];
    const char* const* heads = run.heads_of(a.v, room);
    const size_t stride = a.v.stride_bytes;
    for (size_t s = 0; s < a.n_keys; s += n_together) {
        const size_t n = std::min(n_together, a.n_keys - s);
        for (size_t h = 0; h < run.n_heads; h++) {
            const char* values = heads[h] + s * stride;
            for (size_t t = 0; t < a.n_queries; t++) {
                const float* weights = run.of(h, t) + s;
                float* out = a.out + run.query_at(h, t);
                const bool all =
                    n == n_together && weights[0] * weights[1] != 0 && weights[2] * weights[3] != 0;
                if (all) {
                    add_values<W>(weights, values, stride, n_together, a.d_head, out);
                    continue;
                }
                for (size_t i = 0; i < n; i++) {
                    if (weights[i] == 0) continue;
                    add_values<W>(weights + i, values + i * stride, stride, 1, a.d_head, out);
                }
            }
        }
    }
}

template <class K, class W>
void few_queries(const Attention& a, size_t i, size_t n) {
    size_t n_all = a.n_heads * a.n_batch, last = n_all * (i + 1) / n;
    for (size_t at = n_all * i / n; at < last;) {
        Run run{at / a.n_heads, at % a.n_heads, 0, a, nullptr, a.n_keys + n_room};
        run.n_heads = std::min({last - at, a.n_heads - run.head_first, n_run_heads_max});
        run.scores = scratch<3>(run.n_heads * a.n_queries * run.n_scores);
        scores_of<K>(run);
        for (size_t h = 0; h < run.n_heads; h++) {
            for (size_t t = 0; t < a.n_queries; t++) {
                float* own = run.of(h, t);
                float inverse = 1.0f / exponentials(own, a, mask_row(a, run.batch, t));
                for (size_t s = 0; s < a.n_keys; s++) own[s] *= inverse;
            }
        }
        values_of<W>(run);
        at += run.n_heads;
    }
}

template <class T>
void attention_of(const Attention& a, size_t i, size_t n) {
    bool few = a.n_queries < n_few_queries && !a.positions && !a.n_keys_of;
    if (few) return few_queries<T, T>(a, i, n);
    if (!a.bf16) return many_queries<T, T, Floats>(a, i, n);
    if (bf16_is_native()) return many_queries<T, T, NativePairs>(a, i, n);
    many_queries<T, T, Pairs>(a, i, n);
}

void run_attention(const Attention& a, size_t i, size_t n) {
    switch (a.k.type) {
        case Stored::f32: return attention_of<float>(a, i, n);
        case Stored::f16: return attention_of<hwy::float16_t>(a, i, n);
        case Stored::bf16: return attention_of<hwy::bfloat16_t>(a, i, n);
        case Stored::blocks: return;  // no cache is stored so
    }
}

size_t lanes() {
    return n_lanes;
}

}  // namespace transcribe::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace transcribe::kernels {

HWY_EXPORT(run_attention);
HWY_EXPORT(lanes);

bool attention_fits(size_t d_head) {
    return d_head % HWY_DYNAMIC_DISPATCH(lanes)() == 0;
}

void attention(const Attention& a, size_t i, size_t n) {
    HWY_DYNAMIC_DISPATCH(run_attention)(a, i, n);
}

}  // namespace transcribe::kernels
#endif
