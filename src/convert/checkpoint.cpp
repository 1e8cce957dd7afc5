#include "convert/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <filesystem>

#include "base/check.h"
#include "base/text.h"
#include "convert/ctranslate2.h"
#include "convert/gguf_source.h"
#include "convert/safetensors.h"
#include "convert/silero.h"

namespace transcribe {

bool shape_elements(const std::vector<i64>& shape, i64& n_elements) {
    constexpr i64 max = i64{1} << 60;
    n_elements = 1;
    for (i64 n : shape) {
        if (n < 0 || (n > 0 && n_elements > max / n)) return false;
        n_elements *= n;
    }
    return true;
}

bool shape_fills(const std::vector<i64>& shape, Dtype type, std::uint64_t n_bytes) {
    i64 n = 0;
    return shape_elements(shape, n) && n_bytes == (n > 0 ? row_bytes(type, n) : 0);
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

}  // namespace

void SourceTensor::read(i64 first, std::span<float> out) const {
    if (out.empty()) return;
    if (type == Dtype::i8) return read_scaled(*this, first, out);
    auto n = static_cast<i64>(out.size());
    to_f32(type, part(first, n).data(), out.data(), n);
}

std::span<const std::byte> SourceTensor::part(i64 first, i64 n) const {
    size_t begin = first > 0 ? row_bytes(type, first) : 0, n_bytes = row_bytes(type, n);
    CHECK(first % block_elements(type) == 0 && begin + n_bytes <= data.size());
    return data.subspan(begin, n_bytes);
}

void Checkpoint::release(std::span<const std::byte> part) const {
    for (const MappedFile& file : files) file.release(part);
    if (gguf) gguf->release(part);
}

Expected<Checkpoint> open_checkpoint(const std::string& directory) {
    namespace fs = std::filesystem;
    fs::path dir = native_path(directory);
    std::string shown = printable(directory, 1000);
    std::error_code ignored;
    if (!fs::exists(dir, ignored))
        return Error{Code::not_found, shown + ": no such file or directory"};
    if (!fs::is_directory(dir, ignored)) {
        if (!directory.ends_with(".safetensors")) return open_gguf(directory);
        return Error{Code::invalid_argument,
                     shown + ": not a directory; name the directory that holds the model's files"};
    }
    auto has = [&](const char* name) { return fs::exists(dir / name, ignored); };
    if (has("model.safetensors") || has("model.safetensors.index.json")) {
        return open_hugging_face(directory);
    }
    if (has(silero_file)) return open_silero(directory);
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
