#include "convert/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <cstring>
#include <filesystem>

#include "base/check.h"
#include "base/text.h"
#include "convert/ctranslate2.h"
#include "convert/safetensors.h"
#include "tensor/dtype.h"

namespace transcribe {

size_t source_type_bytes(SourceType type) {
    switch (type) {
        case SourceType::f32:
        case SourceType::i32: return 4;
        case SourceType::i8: return 1;
        default: return 2;
    }
}

bool shape_elements(const std::vector<i64>& shape, i64& n_elements) {
    constexpr i64 max = i64{1} << 60;
    n_elements = 1;
    for (i64 n : shape) {
        if (n < 0 || (n > 0 && n_elements > max / n)) return false;
        n_elements *= n;
    }
    return true;
}

std::string shape_text(const std::vector<i64>& shape) {
    return fmt::format("[{}]", fmt::join(shape, ", "));
}

i64 SourceTensor::n_elements() const {
    i64 n = 0;
    shape_elements(shape, n);
    return n;
}

namespace {

void read_scaled(const SourceTensor& tensor, i64 first, std::span<float> out) {
    i64 per_row = tensor.n_elements() / tensor.shape[0];
    for (size_t i = 0; i < out.size(); i++) {
        i64 at = first + static_cast<i64>(i);
        float scale;
        std::memcpy(&scale, &tensor.scale[static_cast<size_t>(at / per_row) * sizeof(float)],
                    sizeof(float));
        out[i] =
            static_cast<float>(static_cast<std::int8_t>(tensor.data[static_cast<size_t>(at)])) /
            scale;
    }
}

Dtype dtype_of(SourceType type) {
    if (type == SourceType::f16) return Dtype::f16;
    return type == SourceType::bf16 ? Dtype::bf16 : Dtype::f32;
}

}  // namespace

void SourceTensor::read(i64 first, std::span<float> out) const {
    if (type == SourceType::i8) return read_scaled(*this, first, out);
    CHECK(type == SourceType::f32 || type == SourceType::f16 || type == SourceType::bf16);
    size_t n_bytes = source_type_bytes(type);
    auto part = data.subspan(static_cast<size_t>(first) * n_bytes, out.size() * n_bytes);
    if (type == SourceType::f32) {
        std::memcpy(out.data(), part.data(), part.size());
        return;
    }
    std::vector<std::uint16_t> aligned(out.size());
    std::memcpy(aligned.data(), part.data(), part.size());
    to_f32(dtype_of(type), aligned.data(), out.data(), static_cast<i64>(out.size()));
}

Expected<Checkpoint> open_checkpoint(const std::string& directory) {
    namespace fs = std::filesystem;
    fs::path dir = native_path(directory);
    std::string shown = printable(directory, 1000);
    std::error_code ignored;
    if (!fs::exists(dir, ignored)) return Error{Code::not_found, shown + ": no such directory"};
    if (!fs::is_directory(dir, ignored)) {
        return Error{Code::invalid_argument,
                     shown + ": not a directory; name the directory that holds the model's files"};
    }
    auto has = [&](const char* name) { return fs::exists(dir / name, ignored); };
    if (has("model.safetensors") || has("model.safetensors.index.json")) {
        return open_hugging_face(directory);
    }
    if (has("model.bin")) return open_ctranslate2(directory);
    if (has("pytorch_model.bin") || has("pytorch_model.bin.index.json")) {
        return Error{
            Code::unsupported,
            shown + ": only pytorch_model.bin is here; save the model as model.safetensors"};
    }
    return Error{
        Code::not_found,
        shown + ": neither model.safetensors (Hugging Face) nor model.bin (CTranslate2) is here"};
}

}  // namespace transcribe
