#include "nn/few_rows.h"

#include <ggml.h>

#include "base/check.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define TRANSCRIBE_AVX2 __attribute__((target("avx2,fma,f16c")))
#endif

namespace transcribe {

#ifdef TRANSCRIBE_AVX2

namespace {

// Eight stored weights as floats.
struct F16 {
    std::uint16_t bits;
    TRANSCRIBE_AVX2 static __m256 wide(const F16* w) {
        return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w)));
    }
};
struct Bf16 {
    std::uint16_t bits;  // the upper half of a float
    TRANSCRIBE_AVX2 static __m256 wide(const Bf16* w) {
        __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(w));
        return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16));
    }
};

TRANSCRIBE_AVX2 inline float sum(__m256 v) {
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

// One weight row with N rows of x that lie `stride` floats apart; n_in is a multiple of 8.
template <int N, class Half>
TRANSCRIBE_AVX2 void dot(const Half* w, const float* x, size_t stride, size_t n_in, float* out) {
    __m256 even[N], odd[N];
    for (int r = 0; r < N; r++) even[r] = odd[r] = _mm256_setzero_ps();
    size_t i = 0;
    for (; i + 16 <= n_in; i += 16) {
        __m256 w0 = Half::wide(w + i), w1 = Half::wide(w + i + 8);
        for (int r = 0; r < N; r++) {
            const float* row = x + static_cast<size_t>(r) * stride + i;
            even[r] = _mm256_fmadd_ps(w0, _mm256_loadu_ps(row), even[r]);
            odd[r] = _mm256_fmadd_ps(w1, _mm256_loadu_ps(row + 8), odd[r]);
        }
    }
    if (i < n_in) {
        __m256 w0 = Half::wide(w + i);
        for (int r = 0; r < N; r++) {
            const float* row = x + static_cast<size_t>(r) * stride + i;
            even[r] = _mm256_fmadd_ps(w0, _mm256_loadu_ps(row), even[r]);
        }
    }
    for (int r = 0; r < N; r++) out[r] = sum(_mm256_add_ps(even[r], odd[r]));
}

// This thread's share of the output: some weight rows, all rows of x.
template <class Half>
void share(ggml_tensor* dst, int ith, int nth, void*) {
    const ggml_tensor *w = dst->src[0], *x = dst->src[1];
    auto n_in = static_cast<size_t>(w->ne[0]);
    i64 n_rows = ggml_nrows(x), n_out = w->ne[1];
    size_t stride = x->nb[1] / sizeof(float);
    auto* out = static_cast<float*>(dst->data);
    for (i64 o = n_out * ith / nth; o < n_out * (ith + 1) / nth; o++) {
        const auto* row = reinterpret_cast<const Half*>(static_cast<const char*>(w->data) +
                                                        static_cast<size_t>(o) * w->nb[1]);
        const auto* in = static_cast<const float*>(x->data);
        i64 r = 0;
        float sums[4];
        for (; r + 4 <= n_rows; r += 4, in += 4 * stride) {
            dot<4>(row, in, stride, n_in, sums);
            for (int k = 0; k < 4; k++) out[(r + k) * n_out + o] = sums[k];
        }
        for (; r < n_rows; r++, in += stride) dot<1>(row, in, stride, n_in, &out[r * n_out + o]);
    }
}

}  // namespace

bool has_few_rows_product() {
    static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                            __builtin_cpu_supports("f16c");
    return has;
}

Tensor few_rows_product(Weight w, Tensor x) {
    CHECK(w.dim(0) % 8 == 0 && ggml_is_contiguous(x.t));
    CHECK(w.dtype() == Dtype::f16 || w.dtype() == Dtype::bf16);
    ggml_tensor* args[] = {w.t, x.t};
    ggml_custom_op_t run = w.dtype() == Dtype::f16 ? share<F16> : share<Bf16>;
    return {ggml_custom_4d(x.g->ctx, GGML_TYPE_F32, w.dim(1), x.dim(1), x.dim(2), x.dim(3), args, 2,
                           run, GGML_N_TASKS_MAX, nullptr),
            x.g};
}

#else

bool has_few_rows_product() {
    return false;
}
Tensor few_rows_product(Weight, Tensor) {
    throw Bug("this processor has no few-rows product");
}

#endif

}  // namespace transcribe
