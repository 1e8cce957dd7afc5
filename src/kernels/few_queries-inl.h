// Attention with few queries (decoder steps): keys and values are read once from memory, as they
// are stored, and meet all queries. Compiled once for each kind of processor.
#if defined(TRANSCRIBE_FEW_QUERIES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRANSCRIBE_FEW_QUERIES_INL_H_
#undef TRANSCRIBE_FEW_QUERIES_INL_H_
#else
#define TRANSCRIBE_FEW_QUERIES_INL_H_
#endif

#include "kernels/heads-inl.h"

HWY_BEFORE_NAMESPACE();
namespace transcribe::kernels::HWY_NAMESPACE {

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

HWY_INLINE V product_with_key(const Q8Block* key, const float* q, size_t d_head) {
    const D d;
    V sum = hn::Zero(d);
    for (size_t c = 0; c < d_head; c += n_block_values, key++) {
        hwy::Prefetch(reinterpret_cast<const char*>(key) + 4096);
        V own = hn::Zero(d);
        for (size_t i = 0; i < n_block_values; i += n_lanes) {
            own = hn::MulAdd(wide(key->q + i), hn::LoadU(d, q + c + i), own);
        }
        sum = hn::MulAdd(own, unit_of(*key), sum);
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

template <>
HWY_INLINE void add_values<Q8Block>(const float* weights, const char* values, size_t stride_bytes,
                                    size_t n, size_t d_head, float* out) {
    const D d;
    for (size_t c = 0; c < d_head; c += n_block_values, values += sizeof(Q8Block)) {
        V by_unit[n_together];
        const Q8Block* blocks[n_together];
        for (size_t i = 0; i < n; i++) {
            blocks[i] = reinterpret_cast<const Q8Block*>(values + i * stride_bytes);
            hwy::Prefetch(reinterpret_cast<const char*>(blocks[i]) + 4096);
            by_unit[i] = hn::Mul(hn::Set(d, weights[i]), unit_of(*blocks[i]));
        }
        for (size_t k = 0; k < n_block_values; k += n_lanes) {
            V sum = hn::LoadU(d, out + c + k);
            for (size_t i = 0; i < n; i++) {
                sum = hn::MulAdd(by_unit[i], wide(blocks[i]->q + k), sum);
            }
            hn::StoreU(sum, d, out + c + k);
        }
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

}  // namespace transcribe::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
