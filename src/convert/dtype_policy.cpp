#include "convert/dtype_policy.h"

#include <algorithm>

namespace transcribe {

namespace {

constexpr FileType types[] = {
    {"f32", Dtype::f32, 0},   {"f16", Dtype::f16, 1},      {"bf16", Dtype::bf16, 32},
    {"q8_0", Dtype::q8_0, 7}, {"q6_k", Dtype::q6_k, 18},   {"q5_k_m", Dtype::q5_k, 17},
    {"q5_0", Dtype::q5_0, 8}, {"q4_k_m", Dtype::q4_k, 15}, {"q4_0", Dtype::q4_0, 2},
    {"q5_1", Dtype::q5_1, 9}, {"q4_1", Dtype::q4_1, 3},
};

bool is_k(Dtype d) {
    return d == Dtype::q4_k || d == Dtype::q5_k || d == Dtype::q6_k;
}

bool contains(std::string_view name, std::string_view part) {
    return name.find(part) != std::string_view::npos;
}

bool ends_in_any(std::string_view name, std::initializer_list<std::string_view> ends) {
    return std::ranges::any_of(ends, [&](auto end) { return name.ends_with(end); });
}

bool is_exact(std::string_view name) {
    bool weight = name.ends_with(".weight");
    bool norm = weight && (contains(name, ".norm_") || name.ends_with("norm.weight"));
    bool recurrent = name.starts_with("lstm.");  // an error would feed back
    return norm || !weight || recurrent || name.starts_with("frontend.") ||
           contains(name, ".bn.") || name.ends_with(".pos_emb.weight");
}

Dtype quantized(Bucket bucket, Dtype asked) {
    bool mixed = asked == Dtype::q4_k || asked == Dtype::q5_k;
    if (bucket == Bucket::conv) return Dtype::f32;
    if (bucket == Bucket::pointwise_conv) return Dtype::f16;
    if (mixed && bucket == Bucket::embedding) return Dtype::q6_k;
    if (mixed && bucket == Bucket::attention_output) return Dtype::q8_0;
    return asked;
}

}  // namespace

std::span<const FileType> file_types() {
    return types;
}

const FileType* file_type_named(std::string_view name) {
    std::string lower(name);
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    auto found = std::ranges::find(types, lower, &FileType::name);
    return found == std::end(types) ? nullptr : found;
}

const FileType* file_type_of(Dtype dtype) {
    auto found = std::ranges::find(types, dtype, &FileType::dtype);
    return found == std::end(types) ? nullptr : found;
}

std::string file_type_names() {
    std::string out;
    for (const FileType& type : types) out += (out.empty() ? "" : ", ") + std::string(type.name);
    return out;
}

Bucket bucket_of(std::string_view name) {
    if (is_exact(name)) return Bucket::exact;
    if (ends_in_any(name, {".token_embd.weight", ".embed.token.weight"})) return Bucket::embedding;
    if (ends_in_any(name, {".conv.pointwise1.weight", ".conv.pointwise2.weight"})) {
        return Bucket::pointwise_conv;
    }
    if (contains(name, ".conv.")) return Bucket::conv;
    bool output = ends_in_any(name, {"attn.out.weight", "attn.linear_out.weight", "attn.o.weight"});
    return output ? Bucket::attention_output : Bucket::linear;
}

Dtype stored_dtype(std::string_view name, const std::vector<i64>& shape, Dtype asked) {
    Bucket bucket = shape.size() < 2 ? Bucket::exact : bucket_of(name);
    if (bucket == Bucket::exact) return Dtype::f32;
    if (!is_quantized(asked)) {
        bool conv = bucket == Bucket::conv || bucket == Bucket::pointwise_conv;
        return conv && asked == Dtype::bf16 ? Dtype::f16 : asked;
    }
    Dtype wanted = quantized(bucket, asked);
    if (row_bytes(wanted, shape[0]) > 0) return wanted;
    bool q8 = is_k(wanted) && row_bytes(Dtype::q8_0, shape[0]) > 0;
    return q8 ? Dtype::q8_0 : Dtype::f16;
}

}  // namespace transcribe
