#include "kernels/product.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#endif

#include <type_traits>

#include "kernels/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/product.cpp"
#include <hwy/foreach_target.h>
// after foreach_target.h
#include "kernels/activation-inl.h"
#include "kernels/int8-inl.h"

HWY_BEFORE_NAMESPACE();
namespace transcribe::kernels::HWY_NAMESPACE {

constexpr size_t n_few = 12;            // rows for which packing does not pay
constexpr size_t n_cached = 64 * 1024;  // floats of panels that stay in the second-level cache

struct Range {
    size_t first, last;
};

// Share i of n of `all` things, in steps of `step`.
inline Range part(size_t all, size_t step, size_t i, size_t n) {
    size_t n_steps = (all + step - 1) / step;
    return {std::min(all, n_steps * i / n * step), std::min(all, n_steps * (i + 1) / n * step)};
}

// R rows of x with one weight row; enough sums under way to hide the latency of each.
template <size_t R, class T>
HWY_INLINE void dots(const T* w, const float* x, size_t x_stride, size_t n_in, float* out) {
    constexpr size_t n_sums = R >= 4 ? 1 : 4 / R;
    const D d;
    V sums[R][n_sums];
    for (size_t r = 0; r < R; r++) {
        for (size_t s = 0; s < n_sums; s++) sums[r][s] = hn::Zero(d);
    }
    size_t i = 0;
    for (; i + n_sums * n_lanes <= n_in; i += n_sums * n_lanes) {
        HWY_UNROLL(4) for (size_t s = 0; s < n_sums; s++) {
            V weight = wide_from_stream(w + i + s * n_lanes);
            HWY_UNROLL(8) for (size_t r = 0; r < R; r++) {
                V value = hn::LoadU(d, x + r * x_stride + i + s * n_lanes);
                sums[r][s] = hn::MulAdd(weight, value, sums[r][s]);
            }
        }
    }
    for (; i + n_lanes <= n_in; i += n_lanes) {
        V weight = wide(w + i);
        for (size_t r = 0; r < R; r++) {
            sums[r][0] = hn::MulAdd(weight, hn::LoadU(d, x + r * x_stride + i), sums[r][0]);
        }
    }
    for (size_t r = 0; r < R; r++) {
        V sum = sums[r][0];
        for (size_t s = 1; s < n_sums; s++) sum = hn::Add(sum, sums[r][s]);
        out[r] = hn::GetLane(hn::SumOfLanes(d, sum));
        for (size_t k = i; k < n_in; k++) out[r] += wide_one(w[k]) * x[r * x_stride + k];
    }
}

template <class T>
void few_rows(const Product& p, Range outs) {
    for (size_t o = outs.first; o < outs.last; o++) {
        const char* at = static_cast<const char*>(p.w.data) + o * p.w.stride_bytes;
        const auto* w = reinterpret_cast<const T*>(at);
        float sums[8];
        in_tiles<8, 4, 2, 1>(p.n_rows, [&](size_t r, auto rows) {
            constexpr size_t n = decltype(rows)::value;
            dots<n>(w, p.x + r * p.x_stride, p.x_stride, p.n_in, sums);
            for (size_t i = 0; i < n; i++) {
                p.y[(r + i) * p.y_stride + o] = sums[i] + (p.bias ? p.bias[o] : 0.0f);
            }
        });
    }
    if (p.activation == Activation::none) return;
    for (size_t r = 0; r < p.n_rows; r++) {
        float* row = p.y + r * p.y_stride + outs.first;
        activate(p.activation, row, nullptr, row, outs.last - outs.first);
    }
}

// A tile of packed rows is [n_in, n_tile_width]. Read where they stand, rows that are 4 KB apart
// would fall on the same few places of the first-level cache.
constexpr size_t n_tile_width = (n_tile + n_strip - 1) / n_strip * n_strip;

// Floats of a column of a panel of weights.
inline size_t n_deep(const Product& p) {
    if (p.panels) return Fours::deep(p.n_in);
    return p.bf16 ? Pairs::deep(p.n_in) : Floats::deep(p.n_in);
}

// Floats of a tile of packed rows.
inline size_t n_tile_floats(const Product& p) {
    size_t deep = p.panels ? n_groups(p.n_in) * (n_fours + 2) : n_deep(p);
    return deep * n_tile_width;
}

// A tile of rows in 8 bits: lanes, [n_groups * n_fours, n_tile_width], then units.
inline Int8Rows int8_rows(const Product& p, const float* tile) {
    const size_t n_lanes_all = n_groups(p.n_in) * n_fours * n_tile_width;
    return {tile, {1, n_tile_width}, tile + n_lanes_all, {2, 2 * n_tile_width}};
}

size_t run_n_packed(const Product& p) {
    if (p.n_rows < n_few && !p.panels) return 0;
    return (p.n_rows + n_tile - 1) / n_tile * n_tile_floats(p);
}

inline Rows<float> rows_at(const float* x, size_t stride, size_t n_rows, size_t n) {
    return {reinterpret_cast<const char*>(x), stride * sizeof(float), n_rows, n};
}

inline void pack_int8_tile(const Product& p, size_t first, size_t n_rows, float* to) {
    const size_t n_row = n_groups(p.n_in) * n_fours;
    float* rows = scratch<0>(n_tile * n_row);
    float* units = to + n_row * n_tile_width;
    for (size_t r = 0; r < n_rows; r++) {
        to_int8_row(p.x + (first + r) * p.x_stride, p.n_in, rows + r * n_row, units + 2 * r,
                    2 * n_tile_width);
    }
    transpose(rows_at(rows, n_row, n_rows, n_row), to, n_tile_width);
}

void run_pack_rows(const Product& p, float* to, size_t i, size_t n) {
    Range rows = part(p.n_rows, n_tile, i, n);
    for (size_t r = rows.first; r < rows.last; r += n_tile) {
        const size_t n_rows = std::min(n_tile, rows.last - r);
        float* packed = to + r / n_tile * n_tile_floats(p);
        if (p.panels) {
            pack_int8_tile(p, r, n_rows, packed);
            continue;
        }
        auto tile_rows = rows_at(p.x + r * p.x_stride, p.x_stride, n_rows, p.n_in);
        if (!p.bf16) {
            transpose(tile_rows, packed, n_tile_width);
            continue;
        }
        float* columns = scratch<0>(n_tile_width * p.n_in);
        transpose(tile_rows, columns, n_tile_width);
        pair_rows(columns, p.n_in, n_tile_width, packed);
    }
}

// All rows with the panels of outputs [from, to).
template <class Dot>
void rows_with_panels(const Product& p, Range outs, const float* panels) {
    for (size_t r = 0; r < p.n_rows; r += n_tile) {
        const float* x = p.packed + r / n_tile * n_tile_floats(p);
        const size_t n_rows = std::min(n_tile, p.n_rows - r);
        for (size_t o = outs.first; o < outs.last; o += n_panel) {
            size_t n_cols = std::min(n_panel, outs.last - o);
            float bias[n_panel] = {};
            if (p.bias) std::memcpy(bias, p.bias + o, n_cols * sizeof(float));
            auto finish = [&](V sum, size_t column) {
                return activated(p.activation, hn::Add(sum, hn::LoadU(D(), bias + column)));
            };
            const float* panel = panels + (o - outs.first) * n_deep(p);
            float* y = p.y + r * p.y_stride + o;
            if constexpr (Dot::is_int8) {
                int8_tiles<Dot>(int8_rows(p, x), n_rows, panel, p.n_in, y, p.y_stride, n_cols,
                                finish);
            } else {
                tiles<Dot>(x, {1, n_tile_width}, n_rows, panel, n_panel, n_deep(p), y, p.y_stride,
                           n_cols, finish);
            }
        }
    }
}

struct Blocks {};

// The panel of outputs [o, o + n_cols).
template <class T>
void pack_outputs(const Matrix& w, size_t n_in, size_t o, size_t n_cols, float* panel) {
    const char* rows = static_cast<const char*>(w.data) + o * w.stride_bytes;
    if constexpr (!std::is_same_v<T, Blocks>) {
        pack<T>(rows, w.stride_bytes, n_cols, n_in, panel);
    } else {
        float* strip = scratch<0>(n_strip * n_in);
        for (size_t j = 0; j < n_panel; j += n_strip) {
            size_t n = std::min(n_strip, n_cols - std::min(j, n_cols));
            for (size_t i = 0; i < n; i++) {
                w.widen(rows + (j + i) * w.stride_bytes, strip + i * n_in,
                        static_cast<std::int64_t>(n_in));
            }
            transpose_strip(rows_at(strip, n_in, n, n_in), 0, 0, n_in, panel + j, n_panel);
        }
    }
}

template <class T, class Dot>
void many_rows(const Product& p, Range outs) {
    size_t panel_size = n_deep(p) * n_panel;
    size_t n_at_once = std::max<size_t>(1, n_cached / panel_size) * n_panel;
    for (size_t from = outs.first; from < outs.last; from += n_at_once) {
        size_t to = std::min(from + n_at_once, outs.last);
        float* panels = scratch<1>(n_at_once / n_panel * panel_size);
        for (size_t o = from; o < to; o += n_panel) {
            float* panel = panels + (o - from) * n_deep(p);
            float* columns = p.bf16 ? scratch<2>(p.n_in * n_panel) : panel;
            pack_outputs<T>(p.w, p.n_in, o, std::min(n_panel, to - o), columns);
            if (p.bf16) pair_rows(columns, p.n_in, n_panel, panel);
        }
        rows_with_panels<Dot>(p, {from, to}, panels);
    }
}

// Weights in 8 bits: as many of their panels at a time as stay in the cache.
template <class Dot>
void all_rows_in_int8(const Product& p, Range outs) {
    size_t n_at_once = std::max<size_t>(1, 2 * n_cached / (n_deep(p) * n_panel)) * n_panel;
    for (size_t from = outs.first; from < outs.last; from += n_at_once) {
        size_t to = std::min(from + n_at_once, outs.last);
        rows_with_panels<Dot>(p, {from, to}, p.panels + from * n_deep(p));
    }
}

// The share `i` of `n` of a product, by outputs or by rows, whichever are many.
template <class Work>
void share_product(const Product& p, size_t i, size_t n, const Work& work) {
    bool wide_enough = p.n_out >= 2 * n_panel * n;
    if (wide_enough || p.n_rows < 4 * n_tile * n) return work(p, part(p.n_out, n_panel, i, n));
    Range rows = part(p.n_rows, n_tile, i, n);
    Product own = p;
    own.packed += rows.first / n_tile * n_tile_floats(p);
    own.y += rows.first * p.y_stride;
    own.n_rows = rows.last - rows.first;
    work(own, Range{0, p.n_out});
}

template <class T>
void product_of(const Product& p, size_t i, size_t n) {
    if constexpr (!std::is_same_v<T, Blocks>) {
        if (p.n_rows < n_few) return few_rows<T>(p, part(p.n_out, 1, i, n));
    }
    if (!p.bf16) return share_product(p, i, n, many_rows<T, Floats>);
    if (is_native(Rounding::bf16)) return share_product(p, i, n, many_rows<T, NativePairs>);
    share_product(p, i, n, many_rows<T, Pairs>);
}

void product_in_int8(const Product& p, size_t i, size_t n) {
    if (is_native(Rounding::int8)) return share_product(p, i, n, all_rows_in_int8<NativeFours>);
    share_product(p, i, n, all_rows_in_int8<Fours>);
}

void run_product(const Product& p, size_t i, size_t n) {
    if (p.panels) return product_in_int8(p, i, n);
    switch (p.w.type) {
        case Stored::f32: return product_of<float>(p, i, n);
        case Stored::f16: return product_of<hwy::float16_t>(p, i, n);
        case Stored::bf16: return product_of<hwy::bfloat16_t>(p, i, n);
        default: return product_of<Blocks>(p, i, n);
    }
}

size_t run_n_vector_lanes() {
    return n_lanes;
}

size_t run_n_weight_floats(size_t n_in, size_t n_out) {
    return (n_out + n_panel - 1) / n_panel * n_panel * Fours::deep(n_in);
}

template <class T>
void pack_weights_of(const Matrix& w, size_t n_in, Range outs, float* to) {
    for (size_t o = outs.first; o < outs.last; o += n_panel) {
        float* columns = scratch<1>(n_in * n_panel);
        pack_outputs<T>(w, n_in, o, std::min(n_panel, outs.last - o), columns);
        to_int8_panel(columns, n_panel, n_in, 128, to + o * Fours::deep(n_in));
    }
}

void run_pack_weights(const Matrix& w, size_t n_in, size_t n_out, float* to, size_t i, size_t n) {
    const Range outs = part(n_out, n_panel, i, n);
    switch (w.type) {
        case Stored::f32: return pack_weights_of<float>(w, n_in, outs, to);
        case Stored::f16: return pack_weights_of<hwy::float16_t>(w, n_in, outs, to);
        case Stored::bf16: return pack_weights_of<hwy::bfloat16_t>(w, n_in, outs, to);
        default: return pack_weights_of<Blocks>(w, n_in, outs, to);
    }
}

}  // namespace transcribe::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace transcribe::kernels {

HWY_EXPORT(run_product);
HWY_EXPORT(run_n_packed);
HWY_EXPORT(run_pack_rows);
HWY_EXPORT(run_n_weight_floats);
HWY_EXPORT(run_pack_weights);
HWY_EXPORT(run_n_vector_lanes);

namespace {

#if defined(__x86_64__) && defined(__GNUC__)
bool has_bf16_sums() {
    static const bool known = __builtin_cpu_supports("avx512bf16");
    return known;
}

// Of 512 bits, or of 256 bits in processors that have no longer ones.
bool has_int8_sums() {
    static const bool of_512 = __builtin_cpu_supports("avx512vnni");
    static const bool of_256 = [] {
        unsigned a = 0, b = 0, c = 0, d = 0;
        return __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a >> 4 & 1) != 0;
    }();
    return n_vector_lanes() >= 16 ? of_512 : of_256;
}
#else
bool has_bf16_sums() {
    return false;
}
bool has_int8_sums() {
    return false;
}
#endif

}  // namespace

size_t n_vector_lanes() {
    return HWY_DYNAMIC_DISPATCH(run_n_vector_lanes)();
}

size_t n_packed(const Product& p) {
    return HWY_DYNAMIC_DISPATCH(run_n_packed)(p);
}

void pack_rows(const Product& p, float* to, size_t i, size_t n) {
    HWY_DYNAMIC_DISPATCH(run_pack_rows)(p, to, i, n);
}

bool is_native(Rounding rounding) {
    switch (rounding) {
        case Rounding::none: return true;
        case Rounding::bf16: return has_bf16_sums();
        case Rounding::int8: return has_int8_sums();
    }
    return false;
}

size_t n_weight_floats(size_t n_in, size_t n_out) {
    return HWY_DYNAMIC_DISPATCH(run_n_weight_floats)(n_in, n_out);
}

void pack_weights(const Matrix& w, size_t n_in, size_t n_out, float* to, size_t i, size_t n) {
    HWY_DYNAMIC_DISPATCH(run_pack_weights)(w, n_in, n_out, to, i, n);
}

void product(const Product& p, size_t i, size_t n) {
    HWY_DYNAMIC_DISPATCH(run_product)(p, i, n);
}

}  // namespace transcribe::kernels
#endif
