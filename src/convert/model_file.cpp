#include "convert/model_file.h"

#include <filesystem>

#include "base/text.h"
#include "convert/dtype_policy.h"
#include "convert/whisper_bin.h"

namespace transcribe {

namespace {

// "tiny.en" of "ggml-tiny.en.bin".
std::string model_name(const std::string& path) {
    auto stem = native_path(path).stem().u8string();
    std::string name = utf8_repair(std::string(stem.begin(), stem.end()));
    return name.starts_with("ggml-") ? name.substr(5) : name;
}

// The file type where all matrices agree: that of the token embedding.
unsigned file_type_number(const std::vector<GgufTensor>& tensors) {
    for (const GgufTensor& tensor : tensors) {
        if (bucket_of(tensor.name) != Bucket::embedding) continue;
        if (const FileType* type = file_type_of(tensor.dtype)) return type->number;
    }
    return 0;
}

Expected<std::shared_ptr<const Gguf>> join_whisper_bin(const std::string& path, MappedFile file) {
    TRY_SET(auto bin, read_whisper_bin(path, std::move(file)));
    TRY_SET(auto plan, plan_whisper_bin(bin, model_name(path)));
    GgufParts parts;
    parts.path = path;
    parts.file = std::move(bin.checkpoint.files[0]);
    size_t n_computed = 0;
    for (const PlannedTensor& tensor : plan.tensors) n_computed += tensor.computed.size();
    parts.computed.reserve(n_computed);  // the spans below point into it
    for (const PlannedTensor& tensor : plan.tensors) {
        GgufTensor& joined = parts.tensors.emplace_back();
        joined.name = tensor.name;
        joined.shape.assign(tensor.shape.rbegin(), tensor.shape.rend());
        if (tensor.source) {
            joined.dtype = tensor.source->type;
            joined.data = tensor.source->data;
            continue;
        }
        size_t begin = parts.computed.size();
        parts.computed.insert(parts.computed.end(), tensor.computed.begin(), tensor.computed.end());
        joined.dtype = Dtype::f32;
        joined.data = std::as_bytes(std::span(parts.computed).subspan(begin));
    }
    std::vector<GgufKey> keys = std::move(plan.keys);
    keys.push_back({"general.file_type", std::uint32_t{file_type_number(parts.tensors)}});
    keys.push_back({"general.quantization_version", std::uint32_t{2}});
    keys.insert(keys.end(), plan.bulk_keys.begin(), plan.bulk_keys.end());
    parts.header = gguf_header(keys, {});
    return Gguf::join(std::move(parts));
}

}  // namespace

Expected<std::shared_ptr<const Gguf>> open_model_file(const std::string& path) {
    TRY_SET(auto file, MappedFile::open(path));
    return read_model_file(std::move(file), path);
}

Expected<std::shared_ptr<const Gguf>> read_model_file(MappedFile file, const std::string& path) {
    if (is_whisper_bin(file.bytes())) return join_whisper_bin(path, std::move(file));
    GgufParts parts;
    parts.path = path;
    parts.file = std::move(file);
    return Gguf::join(std::move(parts));
}

}  // namespace transcribe
