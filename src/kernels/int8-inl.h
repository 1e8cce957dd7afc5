// Products of 8-bit numbers, compiled once for each kind of processor. 64 neighbours along the
// inputs are a group: whole numbers of -127 to 127 and a unit that is a float. A lane holds four
// neighbours, signed in rows; in panels they are unsigned, 128 more than they are, as the
// instruction wants it, and each row knows what that adds to its sums. Rows that are never negative
// are unsigned themselves, up to 255, and their panels signed. Sums of a group are exact.
#if defined(TRANSCRIBE_INT8_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRANSCRIBE_INT8_INL_H_
#undef TRANSCRIBE_INT8_INL_H_
#else
#define TRANSCRIBE_INT8_INL_H_
#endif

#include "kernels/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace transcribe::kernels::HWY_NAMESPACE {

using DI = hn::RebindToSigned<D>;
using VI = hn::Vec<DI>;

constexpr size_t n_group = 64;
constexpr size_t n_fours = n_group / 4;  // lanes of a group
constexpr float most = 127;

inline size_t n_groups(size_t n) {
    return (n + n_group - 1) / n_group;
}

// sum += the four products of each lane.
struct Fours {
    static constexpr bool is_paired = false, is_int8 = true;
    // Floats of a panel's column, its units included.
    static size_t deep(size_t n) { return n_groups(n) * (n_fours + 1); }
    static HWY_INLINE VI add(VI sum, VI x, VI panel) {
        sum = add_one<24>(sum, x, panel);
        sum = add_one<16>(sum, x, panel);
        sum = add_one<8>(sum, x, panel);
        return add_one<0>(sum, x, panel);
    }

  private:
    template <int shift>
    static HWY_INLINE VI add_one(VI sum, VI x, VI panel) {
        const hn::RebindToUnsigned<D> bits;
        auto value = hn::ShiftRight<24>(hn::ShiftLeft<shift>(hn::BitCast(bits, panel)));
        return hn::Add(
            sum, hn::Mul(hn::ShiftRight<24>(hn::ShiftLeft<shift>(x)), hn::BitCast(DI(), value)));
    }
};

#if defined(__x86_64__) && defined(__GNUC__) && HWY_TARGET <= HWY_AVX3
struct NativeFours : Fours {
    static HWY_INLINE VI add(VI sum, VI x, VI panel) {
        asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(panel.raw), "v"(x.raw));
        return sum;
    }
};
#elif defined(__x86_64__) && defined(__GNUC__) && HWY_TARGET == HWY_AVX2
struct NativeFours : Fours {
    static HWY_INLINE VI add(VI sum, VI x, VI panel) {
        asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum.raw) : "x"(panel.raw), "x"(x.raw));
        return sum;
    }
};
#else
using NativeFours = Fours;
#endif

// Of rows that are never negative.
template <class Dot>
struct Unsigned : Dot {
    static HWY_INLINE VI add(VI sum, VI x, VI panel) { return Dot::add(sum, panel, x); }
};

// ---- floats become groups

// Where a row's groups go: lanes of four, and for each group its unit and, as the bits of a whole
// number, what its sums begin with. Rows of a tile may lie side by side or one after another.
struct Int8Rows {
    const float* fours;
    Steps steps;
    const float* units;  // two a group
    Steps unit_steps;
};

HWY_INLINE float inverse_of(float top, float of) {
    return top > 0 ? of / top : 0;
}

// Adding it to a float rounds to the nearest whole number, which then stands in the low bits.
constexpr float whole_at = 12582912;  // 1.5 * 2^23
constexpr std::uint32_t mantissa = 0x7FFFFF, mantissa_of_whole_at = 0x400000;

// Rounds a group of floats; gives the sum of its numbers, or anything if one is no number.
HWY_INLINE std::uint32_t round_group(const float* from, float inverse, std::uint8_t* to) {
    const D d;
    const hn::RebindToUnsigned<D> bits;
    const hn::Rebind<std::uint8_t, D> bytes;
    const V factor = hn::Set(d, inverse), whole = hn::Set(d, whole_at);
    auto sum = hn::Zero(bits);
    for (size_t i = 0; i < n_group; i += n_lanes) {
        auto q = hn::BitCast(bits, hn::MulAdd(hn::LoadU(d, from + i), factor, whole));
        hn::StoreU(hn::TruncateTo(bytes, q), bytes, to + i);
        sum = hn::Add(sum, hn::And(q, hn::Set(bits, mantissa)));
    }
    return hn::GetLane(hn::SumOfLanes(bits, sum)) - std::uint32_t{n_group} * mantissa_of_whole_at;
}

// n floats become whole groups; the last is filled up with zeros.
inline void to_int8_row(const float* from, size_t n, float* fours, float* units, size_t unit_step) {
    const D d;
    auto* to = reinterpret_cast<std::uint8_t*>(fours);
    for (size_t first = 0; first < n; first += n_group, units += unit_step) {
        const float* group = from + first;
        HWY_ALIGN float filled[n_group];
        if (n - first < n_group) {
            std::fill(std::copy(group, from + n, filled), filled + n_group, 0.0f);
            group = filled;
        }
        V top = hn::Zero(d);
        for (size_t i = 0; i < n_group; i += n_lanes) {
            top = hn::Max(top, hn::Abs(hn::LoadU(d, group + i)));
        }
        const float largest = hn::GetLane(hn::MaxOfLanes(d, top));
        units[0] = largest / most;
        const std::uint32_t start =
            0 - 128 * round_group(group, inverse_of(largest, most), to + first);
        std::memcpy(units + 1, &start, sizeof start);
    }
}

// Columns of n floats, n_panel side by side, become a panel: [n_groups * n_fours, n_panel] lanes
// and behind them the units, [n_groups, n_panel]. `zero`: what 0 becomes; 128, or 0 for products
// with rows that are unsigned.
inline void to_int8_panel(const float* from, size_t stride, size_t n, int zero, float* to) {
    const D d;
    const DI di;
    float* units = to + n_groups(n) * n_fours * n_panel;
    for (size_t first = 0; first < n; first += n_group, units += n_panel) {
        const size_t last = std::min(n, first + n_group);
        for (size_t c = 0; c < n_panel; c += n_lanes) {
            auto at = [&](size_t k) { return hn::LoadU(d, from + k * stride + c); };
            V top = hn::Zero(d);
            for (size_t k = first; k < last; k++) top = hn::Max(top, hn::Abs(at(k)));
            hn::StoreU(hn::Mul(top, hn::Set(d, 1 / most)), d, units + c);
            const V tiny = hn::Set(d, 1e-30f);
            const V factor = hn::Div(hn::Set(d, most), hn::Max(top, tiny));
            for (size_t k = first; k < first + n_group; k += 4) {
                VI four = hn::Zero(di);
                for (size_t j = 0; j < 4; j++) {
                    VI q = hn::Set(di, zero);
                    if (k + j < last) q = hn::Add(q, hn::NearestInt(hn::Mul(at(k + j), factor)));
                    q = hn::And(q, hn::Set(di, 0xFF));
                    four = hn::Or(four, hn::ShiftLeftSame(q, static_cast<int>(8 * j)));
                }
                hn::StoreU(hn::BitCast(d, four), d, to + k / 4 * n_panel + c);
            }
        }
    }
}

// ---- and are multiplied

template <class Dot, size_t R, class Finish>
HWY_INLINE void int8_tile(const Int8Rows& x, const float* panel, size_t n_in, float* y,
                          size_t y_stride, size_t n_cols, const Finish& finish) {
    const D d;
    const DI di;
    const size_t n_all = n_groups(n_in);
    const float *fours = x.fours, *units = x.units;
    const float* panel_units = panel + n_all * n_fours * n_panel;
    HWY_ALIGN float sums[R * n_panel];
    size_t g = 0;
    do {
        VI left[R], right[R];
        HWY_UNROLL(12) for (size_t r = 0; r < R; r++) {
            const V start = hn::Set(d, units[r * x.unit_steps.row + 1]);
            left[r] = right[r] = hn::BitCast(di, start);
        }
        for (size_t k = 0; k < n_fours; k++, panel += n_panel, fours += x.steps.step) {
            hwy::Prefetch(reinterpret_cast<const char*>(panel) + 4096);
            hwy::Prefetch(reinterpret_cast<const char*>(panel + n_lanes) + 4096);
            VI p0 = hn::BitCast(di, hn::LoadU(d, panel));
            VI p1 = hn::BitCast(di, hn::LoadU(d, panel + n_lanes));
            HWY_UNROLL(12) for (size_t r = 0; r < R; r++) {
                VI value = hn::BitCast(di, hn::Set(d, fours[r * x.steps.row]));
                left[r] = Dot::add(left[r], value, p0);
                right[r] = Dot::add(right[r], value, p1);
            }
        }
        V u0 = hn::LoadU(d, panel_units), u1 = hn::LoadU(d, panel_units + n_lanes);
        HWY_UNROLL(12) for (size_t r = 0; r < R; r++) {
            float* sum = sums + r * n_panel;
            V unit = hn::Set(d, units[r * x.unit_steps.row]);
            V before0 = g == 0 ? hn::Zero(d) : hn::Load(d, sum);
            V before1 = g == 0 ? hn::Zero(d) : hn::Load(d, sum + n_lanes);
            V own0 = hn::MulAdd(hn::ConvertTo(d, left[r]), hn::Mul(u0, unit), before0);
            V own1 = hn::MulAdd(hn::ConvertTo(d, right[r]), hn::Mul(u1, unit), before1);
            hn::Store(own0, d, sum);
            hn::Store(own1, d, sum + n_lanes);
        }
        units += x.unit_steps.step;
        panel_units += n_panel;
    } while (++g < n_all);
    for (size_t r = 0; r < R; r++) {
        const float* sum = sums + r * n_panel;
        store_columns(finish(hn::Load(d, sum), 0), finish(hn::Load(d, sum + n_lanes), n_lanes),
                      n_cols, y + r * y_stride);
    }
}

// Tiles for any number of rows.
template <class Dot, class Finish>
HWY_INLINE void int8_tiles(const Int8Rows& x, size_t n_rows, const float* panel, size_t n_in,
                           float* y, size_t y_stride, size_t n_cols, const Finish& finish) {
    in_tiles<n_tile, 8, 4, 2, 1>(n_rows, [&](size_t r, auto rows) {
        Int8Rows own = x;
        own.fours += r * x.steps.row;
        own.units += r * x.unit_steps.row;
        int8_tile<Dot, decltype(rows)::value>(own, panel, n_in, y + r * y_stride, y_stride, n_cols,
                                              finish);
    });
}

}  // namespace transcribe::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
