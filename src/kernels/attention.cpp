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

// Keys and values of a head, packed: keys as panels, values as rows that are whole panels wide.
struct Packed {
    float *keys, *values, *scores;
    size_t n_scores;  // a query
    size_t n_value;   // floats of a value
};

template <class K, class W>
Packed pack_head(const Attention& a, const Unit& u) {
    Packed p;
    p.n_scores = (a.n_keys + n_panel - 1) / n_panel * n_panel;
    p.n_value = (a.d_head + n_panel - 1) / n_panel * n_panel;
    p.keys = scratch<1>(p.n_scores * a.d_head);
    p.values = scratch<2>(a.n_keys * p.n_value);
    p.scores = scratch<3>(n_block * p.n_scores);
    const char* keys = head_at(a.k, a, u.batch, u.head);
    for (size_t s = 0; s < a.n_keys; s += n_panel) {
        pack<K>(keys + s * a.k.stride_bytes, a.k.stride_bytes, std::min(n_panel, a.n_keys - s),
                a.d_head, p.keys + s * a.d_head);
    }
    const char* values = head_at(a.v, a, u.batch, u.head);
    for (size_t s = 0; s < a.n_keys; s++) {
        float* to = p.values + s * p.n_value;
        widen_row(reinterpret_cast<const W*>(values + s * a.v.stride_bytes), a.d_head, to);
        std::fill(to + a.d_head, to + p.n_value, 0.0f);
    }
    return p;
}

void block(const Attention& a, const Unit& u, const Packed& p, size_t query, size_t n) {
    const size_t stride = a.n_heads * a.d_head;
    const float* q = a.q + query_at(a, u, query);
    auto as_is = [](V sum, size_t) { return sum; };
    for (size_t s = 0; s < a.n_keys; s += n_panel) {
        tiles(q, stride, n, p.keys + s * a.d_head, n_panel, a.d_head, p.scores + s, p.n_scores,
              n_panel, as_is);
    }
    float inverse[n_block];
    for (size_t i = 0; i < n; i++) {
        const std::uint16_t* mask = mask_row(a, u.batch, query + i);
        inverse[i] = 1.0f / exponentials(p.scores + i * p.n_scores, a, mask);
    }
    float* out = a.out + query_at(a, u, query);
    for (size_t c = 0; c < a.d_head; c += n_panel) {
        tiles(p.scores, p.n_scores, n, p.values + c, p.n_value, a.n_keys, out + c, stride,
              std::min(n_panel, a.d_head - c), as_is);
    }
    for (size_t i = 0; i < n; i++) {
        float* row = out + i * stride;
        for (size_t c = 0; c < a.d_head; c++) row[c] *= inverse[i];
    }
}

// Shares are runs of blocks of queries; each head in a run is packed once.
template <class K, class W>
void many_queries(const Attention& a, size_t i, size_t n) {
    size_t n_blocks = (a.n_queries + n_block - 1) / n_block;
    size_t n_all = n_blocks * a.n_heads * a.n_batch;
    size_t packed_unit = n_all;
    Packed p{};
    for (size_t at = n_all * i / n; at < n_all * (i + 1) / n; at++) {
        size_t unit = at / n_blocks, query = at % n_blocks * n_block;
        Unit u{unit / a.n_heads, unit % a.n_heads};
        if (unit != packed_unit) p = pack_head<K, W>(a, u);
        packed_unit = unit;
        block(a, u, p, query, std::min(n_block, a.n_queries - query));
    }
}

// Neighbouring heads of one of the batch. Keys and values lie head after head, so that a run of
// heads is read from memory in one go.
struct Run {
    size_t batch, head_first, n_heads;
    float* scores;    // [n_scores] for each query of each head
    size_t n_scores;  // n_keys and some room
    float* of(const Attention& a, size_t head, size_t query) const {
        return scores + ((head - head_first) * a.n_queries + query) * n_scores;
    }
};

template <class K>
void scores_of(const Attention& a, const Run& run) {
    const D d;
    for (size_t s = 0; s < a.n_keys; s++) {
        for (size_t h = run.head_first; h < run.head_first + run.n_heads; h++) {
            const char* keys = head_at(a.k, a, run.batch, h);
            const auto* key = reinterpret_cast<const K*>(keys + s * a.k.stride_bytes);
            for (size_t t = 0; t < a.n_queries; t++) {
                const float* q = a.q + query_at(a, {run.batch, h}, t);
                V sum = hn::Zero(d);
                for (size_t c = 0; c < a.d_head; c += n_lanes) {
                    sum = hn::MulAdd(wide_from_stream(key + c), hn::LoadU(d, q + c), sum);
                }
                run.of(a, h, t)[s] = hn::GetLane(hn::SumOfLanes(d, sum));
            }
        }
    }
}

// out = sum over keys of weight * value; what a query gives no weight is not read.
template <class W>
void values_of(const Attention& a, const Run& run) {
    const D d;
    for (size_t t = 0; t < a.n_queries; t++) {
        std::fill_n(a.out + query_at(a, {run.batch, run.head_first}, t), run.n_heads * a.d_head,
                    0.0f);
    }
    for (size_t s = 0; s < a.n_keys; s++) {
        for (size_t h = run.head_first; h < run.head_first + run.n_heads; h++) {
            const char* values = head_at(a.v, a, run.batch, h);
            const auto* value = reinterpret_cast<const W*>(values + s * a.v.stride_bytes);
            for (size_t t = 0; t < a.n_queries; t++) {
                float weight = run.of(a, h, t)[s];
                if (weight == 0) continue;
                float* out = a.out + query_at(a, {run.batch, h}, t);
                for (size_t c = 0; c < a.d_head; c += n_lanes) {
                    V sum = hn::MulAdd(hn::Set(d, weight), wide_from_stream(value + c),
                                       hn::LoadU(d, out + c));
                    hn::StoreU(sum, d, out + c);
                }
            }
        }
    }
}

template <class K, class W>
void few_queries(const Attention& a, size_t i, size_t n) {
    size_t n_all = a.n_heads * a.n_batch, last = n_all * (i + 1) / n;
    for (size_t at = n_all * i / n; at < last;) {
        Run run{at / a.n_heads, at % a.n_heads, 0, nullptr, 0};
        run.n_heads = std::min(last - at, a.n_heads - run.head_first);
        run.n_scores = a.n_keys + n_panel;
        run.scores = scratch<3>(run.n_heads * a.n_queries * run.n_scores);
        scores_of<K>(a, run);
        for (size_t h = run.head_first; h < run.head_first + run.n_heads; h++) {
            for (size_t t = 0; t < a.n_queries; t++) {
                float* own = run.of(a, h, t);
                float inverse = 1.0f / exponentials(own, a, mask_row(a, run.batch, t));
                for (size_t s = 0; s < a.n_keys; s++) own[s] *= inverse;
            }
        }
        values_of<W>(a, run);
        at += run.n_heads;
    }
}

template <class T>
void attention_of(const Attention& a, size_t i, size_t n) {
    if (a.n_queries < n_few_queries) return few_queries<T, T>(a, i, n);
    many_queries<T, T>(a, i, n);
}

void run_attention(const Attention& a, size_t i, size_t n) {
    switch (a.k.type) {
        case Stored::f32: return attention_of<float>(a, i, n);
        case Stored::f16: return attention_of<hwy::float16_t>(a, i, n);
        case Stored::bf16: return attention_of<hwy::bfloat16_t>(a, i, n);
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
