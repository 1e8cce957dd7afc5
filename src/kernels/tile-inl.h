// What the kernels share, compiled once for each kind of processor: loads that widen, and the tile,
// a product of some rows with a panel of columns that is held in registers.
#if defined(TRANSCRIBE_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRANSCRIBE_TILE_INL_H_
#undef TRANSCRIBE_TILE_INL_H_
#else
#define TRANSCRIBE_TILE_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace transcribe::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr size_t n_lanes = hn::MaxLanes(D());
constexpr size_t n_panel = 2 * n_lanes;  // columns of a panel
// Rows of a tile: their sums, two vectors each, fill the registers.
constexpr size_t n_tile = n_lanes >= 16 ? 12 : 6;

HWY_INLINE V wide(const float* p) {
    return hn::LoadU(D(), p);
}
HWY_INLINE V wide(const hwy::float16_t* p) {
    return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<hwy::float16_t, D>(), p));
}
HWY_INLINE V wide(const hwy::bfloat16_t* p) {
    return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<hwy::bfloat16_t, D>(), p));
}

// The processor's own prefetching stops at the end of a page of 4 KB; what is read once, from one
// end to the other, comes 40 % faster when it is asked for that far ahead.
template <class T>
HWY_INLINE V wide_from_stream(const T* p) {
    hwy::Prefetch(reinterpret_cast<const char*>(p) + 4096);
    return wide(p);
}

inline float wide_one(float x) {
    return x;
}
template <class Half>
HWY_INLINE float wide_one(Half x) {
    const hn::CappedTag<float, 1> d;
    return hn::GetLane(hn::PromoteTo(d, hn::LoadU(hn::Rebind<Half, decltype(d)>(), &x)));
}

template <class T>
void widen_row(const T* from, size_t n, float* to) {
    size_t i = 0;
    for (; i + n_lanes <= n; i += n_lanes) hn::StoreU(wide(from + i), D(), to + i);
    for (; i < n; i++) to[i] = wide_one(from[i]);
}

// How a lane of a row meets a lane of a panel.
struct Floats {
    static constexpr bool is_paired = false, is_int8 = false;
    static constexpr size_t deep(size_t n) { return n; }  // lanes that n values take
    static HWY_INLINE V add(V sum, V x, V panel) { return hn::MulAdd(x, panel, sum); }
};

// Two bfloat16 numbers a lane, the first in the lower half. Products are exact, sums are F32; the
// second comes first, as the instruction has it that many processors know.
struct Pairs {
    static constexpr bool is_paired = true, is_int8 = false;
    static constexpr size_t deep(size_t n) { return (n + 1) / 2; }
    static HWY_INLINE V first(V pair) {
        const hn::RebindToUnsigned<D> bits;
        return hn::BitCast(D(), hn::ShiftLeft<16>(hn::BitCast(bits, pair)));
    }
    static HWY_INLINE V second(V pair) {
        const hn::RebindToUnsigned<D> bits;
        return hn::BitCast(
            D(), hn::And(hn::BitCast(bits, pair), hn::Set(bits, std::uint32_t{0xffff0000})));
    }
    static HWY_INLINE V add(V sum, V x, V panel) {
        sum = hn::MulAdd(second(x), second(panel), sum);
        return hn::MulAdd(first(x), first(panel), sum);
    }
};

#if defined(__x86_64__) && defined(__GNUC__) && HWY_TARGET <= HWY_AVX3
// The same by that instruction. Highway 1.0.3 does not offer it, and the compiler's own function
// for it cannot be inlined into what is compiled for processors without it.
struct NativePairs : Pairs {
    static HWY_INLINE V add(V sum, V x, V panel) {
        asm("vdpbf16ps %2, %1, %0" : "+v"(sum.raw) : "v"(x.raw), "v"(panel.raw));
        return sum;
    }
};
#else
using NativePairs = Pairs;
#endif

// Memory for packed operands. One for each thread and kind of data, kept between calls: allocating
// it anew costs a page fault for each 4 KB.
template <int kind>
float* scratch(size_t n_floats) {
    thread_local std::vector<float> memory;
    if (memory.size() < n_floats) memory.resize(n_floats);
    return memory.data();
}

constexpr size_t n_strip = std::min<size_t>(4, n_panel);

// bfloat16 numbers, rounded to nearest even, in the lower halves of lanes.
template <class Tag>
HWY_INLINE auto bf16_bits(Tag d, const float* from) {
    const hn::RebindToUnsigned<Tag> bits;
    auto b = hn::BitCast(bits, hn::LoadU(d, from));
    auto odd = hn::And(hn::ShiftRight<16>(b), hn::Set(bits, 1));
    return hn::ShiftRight<16>(hn::Add(b, hn::Add(odd, hn::Set(bits, 0x7fff))));
}

// Rows [n, width] become rows of pairs [n / 2, width]; a last row that is alone is paired with
// zeros. The pairs may take the place of the rows; width is whole strips.
inline void pair_rows(const float* from, size_t n, size_t width, float* to) {
    const hn::CappedTag<float, n_strip> d;
    for (size_t k = 0; k < n; k += 2, to += width) {
        const float* row = from + k * width;
        for (size_t j = 0; j < width; j += hn::Lanes(d)) {
            auto pairs = bf16_bits(d, row + j);
            if (k + 1 < n) {
                pairs = hn::Or(pairs, hn::ShiftLeft<16>(bf16_bits(d, row + width + j)));
            }
            hn::StoreU(hn::BitCast(d, pairs), d, to + j);
        }
    }
}

// Neighbours of a row become pairs, in its place.
inline void pair_row(float* row, size_t n) {
    const D d;
    const hn::Rebind<std::int32_t, D> wide_tag;
    const hn::Rebind<std::uint16_t, D> narrow;
    auto* to = reinterpret_cast<std::uint16_t*>(row);
    size_t i = 0;
    for (; i + n_lanes <= n; i += n_lanes) {
        hn::StoreU(hn::DemoteTo(narrow, hn::BitCast(wide_tag, bf16_bits(d, row + i))), narrow,
                   to + i);
    }
    const hn::CappedTag<float, 1> one;
    for (; i < n; i++) {
        auto half = static_cast<std::uint16_t>(hn::GetLane(bf16_bits(one, row + i)));
        std::memcpy(to + i, &half, sizeof half);
    }
    if (n % 2 == 1) std::memset(to + n, 0, sizeof *to);
}

// Rows of n stored values, one every stride_bytes, of which the last may be missing.
template <class T>
struct Rows {
    const char* at;
    size_t stride_bytes, n_rows, n;
    const T* row(size_t i) const { return reinterpret_cast<const T*>(at + i * stride_bytes); }
};

// Four rows from `first` on become columns: to[k * width + j] = row j [k]; missing rows are 0.
template <class T>
HWY_INLINE void transpose_strip(const Rows<T>& from, size_t first, size_t k_first, size_t k_last,
                                float* to, size_t width) {
    size_t k = k_first;
#if HWY_TARGET != HWY_SCALAR
    const D d;
    const hn::FixedTag<float, 4> d4;
    const hn::RepartitionToWide<D> wider;
    auto low = [&](V x, V y) {
        return hn::BitCast(
            d, hn::InterleaveLower(wider, hn::BitCast(wider, x), hn::BitCast(wider, y)));
    };
    auto high = [&](V x, V y) {
        return hn::BitCast(
            d, hn::InterleaveUpper(wider, hn::BitCast(wider, x), hn::BitCast(wider, y)));
    };
    for (; first + n_strip <= from.n_rows && k + n_lanes <= k_last; k += n_lanes) {
        V a = wide(from.row(first) + k), b = wide(from.row(first + 1) + k);
        V c = wide(from.row(first + 2) + k), e = wide(from.row(first + 3) + k);
        V ab0 = hn::InterleaveLower(d, a, b), ab1 = hn::InterleaveUpper(d, a, b);
        V ce0 = hn::InterleaveLower(d, c, e), ce1 = hn::InterleaveUpper(d, c, e);
        // Each block of four lanes is now four columns' worth of one k.
        HWY_ALIGN float blocks[n_strip * n_lanes];
        hn::Store(low(ab0, ce0), d, blocks);
        hn::Store(high(ab0, ce0), d, blocks + n_lanes);
        hn::Store(low(ab1, ce1), d, blocks + 2 * n_lanes);
        hn::Store(high(ab1, ce1), d, blocks + 3 * n_lanes);
        for (size_t i = 0; i < n_lanes; i++) {
            auto block = hn::Load(d4, blocks + i % 4 * n_lanes + i / 4 * 4);
            hn::StoreU(block, d4, to + (k + i) * width);
        }
    }
#endif
    for (; k < k_last; k++) {
        for (size_t j = 0; j < n_strip; j++) {
            to[k * width + j] = first + j < from.n_rows ? wide_one(from.row(first + j)[k]) : 0.0f;
        }
    }
}

// Up to `width` rows become the columns of a panel [n, width]; the rest is 0. Part by part, so that
// what strips write side by side is still in the first-level cache.
template <class T>
void transpose(const Rows<T>& from, float* to, size_t width) {
    constexpr size_t n_part = 128;
    for (size_t k = 0; k < from.n; k += n_part) {
        for (size_t j = 0; j < width; j += n_strip) {
            transpose_strip(from, j, k, std::min(k + n_part, from.n), to + j, width);
        }
    }
}

// `n_cols` rows of `n` stored values become the columns of a panel [n, n_panel]; the rest is 0.
template <class T>
void pack(const char* rows, size_t stride_bytes, size_t n_cols, size_t n, float* panel) {
    transpose(Rows<T>{rows, stride_bytes, n_cols, n}, panel, n_panel);
}

// Where rows of x stand: x[r * row + k * step].
struct Steps {
    size_t row, step;
};

// The columns that a panel has of a row of sums.
HWY_INLINE void store_columns(V y0, V y1, size_t n_cols, float* to) {
    const D d;
    if (n_cols == n_panel) {
        hn::StoreU(y0, d, to);
        hn::StoreU(y1, d, to + n_lanes);
        return;
    }
    float all[n_panel];
    hn::StoreU(y0, d, all);
    hn::StoreU(y1, d, all + n_lanes);
    std::memcpy(to, all, n_cols * sizeof(float));
}

// y[r][c] = sum over k of x[r][k] * panel[k][c], for R rows and the columns of a panel; k counts
// lanes, of which Dot knows what they hold. `finish` gets each vector of sums and its column.
template <class Dot, size_t R, class Finish>
HWY_INLINE void tile(const float* x, Steps x_steps, const float* panel, size_t panel_stride,
                     size_t n_k, float* y, size_t y_stride, size_t n_cols, const Finish& finish) {
    const D d;
    V left[R], right[R];
    HWY_UNROLL(12) for (size_t r = 0; r < R; r++) left[r] = right[r] = hn::Zero(d);
    for (size_t k = 0; k < n_k; k++) {
        V p0 = hn::LoadU(d, panel), p1 = hn::LoadU(d, panel + n_lanes);
        panel += panel_stride;
        HWY_UNROLL(12) for (size_t r = 0; r < R; r++) {
            V value = hn::Set(d, x[r * x_steps.row]);
            left[r] = Dot::add(left[r], value, p0);
            right[r] = Dot::add(right[r], value, p1);
        }
        x += x_steps.step;
    }
    for (size_t r = 0; r < R; r++) {
        store_columns(finish(left[r], 0), finish(right[r], n_lanes), n_cols, y + r * y_stride);
    }
}

// Any number of rows, each size as often as it fits, the largest first: at(first row, size).
template <size_t... sizes, class At>
HWY_INLINE void in_tiles(size_t n_rows, const At& at) {
    size_t r = 0;
    auto all_of = [&](auto size) {
        for (; r + size <= n_rows; r += size) at(r, size);
    };
    (all_of(std::integral_constant<size_t, sizes>()), ...);
}

// Tiles for any number of rows.
template <class Dot, class Finish>
HWY_INLINE void tiles(const float* x, Steps x_steps, size_t n_rows, const float* panel,
                      size_t panel_stride, size_t n_k, float* y, size_t y_stride, size_t n_cols,
                      const Finish& finish) {
    in_tiles<n_tile, n_tile / 2, 1>(n_rows, [&](size_t r, auto rows) {
        tile<Dot, decltype(rows)::value>(x + r * x_steps.row, x_steps, panel, panel_stride, n_k,
                                         y + r * y_stride, y_stride, n_cols, finish);
    });
}

}  // namespace transcribe::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
