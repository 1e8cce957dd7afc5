#include "convert/dtype_policy.h"

namespace transcribe {

namespace {

bool is_float(Dtype d) {
    return d == Dtype::f32 || d == Dtype::f16 || d == Dtype::bf16;
}
bool is_k(Dtype d) {
    return d == Dtype::q4_k || d == Dtype::q5_k || d == Dtype::q6_k;
}
bool is_mixed(Dtype d) {
    return d == Dtype::q4_k || d == Dtype::q5_k;
}

Dtype target(Bucket bucket, Dtype asked) {
    if (is_mixed(asked) && bucket == Bucket::embedding) return Dtype::q6_k;
    if (is_mixed(asked) && bucket == Bucket::attention_output) return Dtype::q8_0;
    return asked;
}

}  // namespace

Dtype stored_dtype(Bucket bucket, i64 n_per_row, Dtype asked) {
    if (bucket == Bucket::exact) return Dtype::f32;
    if (bucket == Bucket::conv) {
        return asked == Dtype::f16 || asked == Dtype::bf16 ? Dtype::f16 : Dtype::f32;
    }
    if (is_float(asked)) return asked;
    Dtype wanted = target(bucket, asked);
    if (row_bytes(wanted, n_per_row) > 0) return wanted;
    bool q8 = is_k(wanted) && row_bytes(Dtype::q8_0, n_per_row) > 0;
    return q8 ? Dtype::q8_0 : Dtype::f16;
}

unsigned file_type(Dtype asked) {
    switch (asked) {
        case Dtype::f16: return 1;
        case Dtype::q4_0: return 2;
        case Dtype::q4_1: return 3;
        case Dtype::q8_0: return 7;
        case Dtype::q5_0: return 8;
        case Dtype::q5_1: return 9;
        case Dtype::q4_k: return 15;  // Q4_K_M
        case Dtype::q5_k: return 17;  // Q5_K_M
        case Dtype::q6_k: return 18;
        case Dtype::bf16: return 32;
        default: return 0;
    }
}

}  // namespace transcribe
