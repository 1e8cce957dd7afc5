#include "kernels/product.h"

#include <type_traits>

#include "kernels/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/product.cpp"
#include <hwy/foreach_target.h>
// after foreach_target.h
#include "kernels/activation-inl.h"

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
        size_t r = 0;
        auto take = [&](auto rows) {
            constexpr size_t n = decltype(rows)::value;
            dots<n>(w, p.x + r * p.x_stride, p.x_stride, p.n_in, sums);
            for (size_t i = 0; i < n; i++) {
                p.y[(r + i) * p.y_stride + o] = sums[i] + (p.bias ? p.bias[o] : 0.0f);
            }
            r += n;
        };
        while (r + 8 <= p.n_rows) take(std::integral_constant<size_t, 8>());
        if (r + 4 <= p.n_rows) take(std::integral_constant<size_t, 4>());
        if (r + 2 <= p.n_rows) take(std::integral_constant<size_t, 2>());
        if (r < p.n_rows) take(std::integral_constant<size_t, 1>());
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

// Lanes along the inputs of a product.
inline size_t n_deep(const Product& p) {
    return p.bf16 ? Pairs::deep(p.n_in) : Floats::deep(p.n_in);
}

size_t run_n_packed(const Product& p) {
    if (p.n_rows < n_few) return 0;
    return (p.n_rows + n_tile - 1) / n_tile * n_tile_width * n_deep(p);
}

void run_pack_rows(const Product& p, float* to, size_t i, size_t n) {
    Range rows = part(p.n_rows, n_tile, i, n);
    for (size_t r = rows.first; r < rows.last; r += n_tile) {
        const auto* from = reinterpret_cast<const char*>(p.x + r * p.x_stride);
        Rows<float> tile_rows{from, p.x_stride * sizeof(float), std::min(n_tile, rows.last - r),
                              p.n_in};
        float* packed = to + r / n_tile * n_tile_width * n_deep(p);
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
        const float* x = p.packed + r / n_tile * n_tile_width * n_deep(p);
        for (size_t o = outs.first; o < outs.last; o += n_panel) {
            size_t n_cols = std::min(n_panel, outs.last - o);
            float bias[n_panel] = {};
            if (p.bias) std::memcpy(bias, p.bias + o, n_cols * sizeof(float));
            auto finish = [&](V sum, size_t column) {
                return activated(p.activation, hn::Add(sum, hn::LoadU(D(), bias + column)));
            };
            tiles<Dot>(x, {1, n_tile_width}, std::min(n_tile, p.n_rows - r),
                       panels + (o - outs.first) * n_deep(p), n_panel, n_deep(p),
                       p.y + r * p.y_stride + o, p.y_stride, n_cols, finish);
        }
    }
}

struct Blocks {};

// The panel of outputs [o, o + n_cols).
template <class T>
void pack_outputs(const Product& p, size_t o, size_t n_cols, float* panel) {
    const char* rows = static_cast<const char*>(p.w.data) + o * p.w.stride_bytes;
    if constexpr (!std::is_same_v<T, Blocks>) {
        pack<T>(rows, p.w.stride_bytes, n_cols, p.n_in, panel);
    } else {
        float* strip = scratch<0>(n_strip * p.n_in);
        for (size_t j = 0; j < n_panel; j += n_strip) {
            size_t n = std::min(n_strip, n_cols - std::min(j, n_cols));
            for (size_t i = 0; i < n; i++) {
                p.w.widen(rows + (j + i) * p.w.stride_bytes, strip + i * p.n_in,
                          static_cast<std::int64_t>(p.n_in));
            }
            const auto* wide_rows = reinterpret_cast<const char*>(strip);
            transpose_strip(Rows<float>{wide_rows, p.n_in * sizeof(float), n, p.n_in}, 0, 0, p.n_in,
                            panel + j, n_panel);
        }
    }
}

template <class T, class Dot>
void many_rows(const Product& p, Range outs) {
    size_t panel_size = n_deep(p) * n_panel;
    size_t n_group = std::max<size_t>(1, n_cached / panel_size) * n_panel;
    for (size_t from = outs.first; from < outs.last; from += n_group) {
        size_t to = std::min(from + n_group, outs.last);
        float* panels = scratch<1>(n_group / n_panel * panel_size);
        for (size_t o = from; o < to; o += n_panel) {
            float* panel = panels + (o - from) * n_deep(p);
            float* columns = p.bf16 ? scratch<2>(p.n_in * n_panel) : panel;
            pack_outputs<T>(p, o, std::min(n_panel, to - o), columns);
            if (p.bf16) pair_rows(columns, p.n_in, n_panel, panel);
        }
        rows_with_panels<Dot>(p, {from, to}, panels);
    }
}

template <class T, class Dot>
void product_of_many(const Product& p, size_t i, size_t n) {
    bool wide_enough = p.n_out >= 2 * n_panel * n;
    if (wide_enough || p.n_rows < 4 * n_tile * n) {
        return many_rows<T, Dot>(p, part(p.n_out, n_panel, i, n));
    }
    Range rows = part(p.n_rows, n_tile, i, n);
    Product own = p;
    own.packed += rows.first / n_tile * n_tile_width * n_deep(p);
    own.y += rows.first * p.y_stride;
    own.n_rows = rows.last - rows.first;
    many_rows<T, Dot>(own, {0, p.n_out});
}

template <class T>
void product_of(const Product& p, size_t i, size_t n) {
    if constexpr (!std::is_same_v<T, Blocks>) {
        if (p.n_rows < n_few) return few_rows<T>(p, part(p.n_out, 1, i, n));
    }
    if (!p.bf16) return product_of_many<T, Floats>(p, i, n);
    if (bf16_is_native()) return product_of_many<T, NativePairs>(p, i, n);
    product_of_many<T, Pairs>(p, i, n);
}

void run_product(const Product& p, size_t i, size_t n) {
    switch (p.w.type) {
        case Stored::f32: return product_of<float>(p, i, n);
        case Stored::f16: return product_of<hwy::float16_t>(p, i, n);
        case Stored::bf16: return product_of<hwy::bfloat16_t>(p, i, n);
        case Stored::blocks: return product_of<Blocks>(p, i, n);
    }
}

}  // namespace transcribe::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace transcribe::kernels {

HWY_EXPORT(run_product);
HWY_EXPORT(run_n_packed);
HWY_EXPORT(run_pack_rows);

size_t n_packed(const Product& p) {
    return HWY_DYNAMIC_DISPATCH(run_n_packed)(p);
}

void pack_rows(const Product& p, float* to, size_t i, size_t n) {
    HWY_DYNAMIC_DISPATCH(run_pack_rows)(p, to, i, n);
}

bool bf16_is_native() {
#if defined(__x86_64__) && defined(__GNUC__)
    static const bool known = __builtin_cpu_supports("avx512bf16");
    return known;
#else
    return false;
#endif
}

void product(const Product& p, size_t i, size_t n) {
    HWY_DYNAMIC_DISPATCH(run_product)(p, i, n);
}

}  // namespace transcribe::kernels
#endif
