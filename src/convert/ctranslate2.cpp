// The binary format, version 6: u32 version, name and u32 revision of the model spec, u32 count,
// then for each tensor: name, u8 rank, u32 dims, u8 type, u32 bytes, data; u32 count of aliases,
// each two names. Names are u16 length (with the closing zero) and bytes. Attributes are scalars
// among the tensors. An int8 weight has its scales beside it under NAME_scale: value = stored /
// scale.
#include "convert/ctranslate2.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "base/text.h"
#include "tensor/byte_reader.h"

namespace transcribe {

namespace {

constexpr std::uint32_t version_read = 6;
constexpr std::uint64_t tensor_bytes_min = 2 + 1 + 1 + 4;
constexpr std::array types = {Dtype::f32, Dtype::i8,  Dtype::i16,
                              Dtype::i32, Dtype::f16, Dtype::bf16};
constexpr std::string_view scale_suffix = "_scale";

std::string read_name(ByteReader& in) {
    std::string_view text = in.text(in.get<std::uint16_t>("a name"), "a name");
    if (text.ends_with('\0')) text.remove_suffix(1);
    return std::string(text);
}

void read_tensor(ByteReader& in, Checkpoint& into) {
    std::string name = read_name(in);
    SourceTensor tensor;
    auto rank = in.get<std::uint8_t>("a rank");
    for (int i = 0; i < rank && in.ok(); i++) {
        tensor.shape.push_back(in.get<std::uint32_t>("a dimension"));
    }
    auto type = in.get<std::uint8_t>("a type");
    tensor.data = in.take(in.get<std::uint32_t>("a size"), "a tensor");
    if (!in.ok()) return;
    std::string shown = printable(name, 80);
    if (type >= types.size())
        return in.fail(fmt::format("{} is of the unknown type {}", shown, type));
    tensor.type = types[type];
    if (!shape_fills(tensor.shape, tensor.type, tensor.data.size())) {
        return in.fail(fmt::format("the shape {} of {} does not give its {} bytes",
                                   shape_text(tensor.shape), shown, tensor.data.size()));
    }
    bool added = into.tensors.emplace(name, std::move(tensor)).second;
    if (!added) in.fail(fmt::format("{} stands in the file twice", shown));
}

void read_alias(ByteReader& in, Checkpoint& into) {
    std::string name = read_name(in);
    const SourceTensor* target = into.find(read_name(in));
    if (!in.ok()) return;
    if (!target) return in.fail(fmt::format("{} stands for nothing", printable(name, 80)));
    into.tensors.emplace(name, SourceTensor(*target));
}

void read_preamble(ByteReader& in, Checkpoint& into) {
    auto version = in.get<std::uint32_t>("the version");
    if (in.ok() && version != version_read) {
        return in.fail(fmt::format("not a CTranslate2 model of version {} (it says {})",
                                   version_read, version));
    }
    std::string spec = read_name(in);
    into.architecture = spec == "WhisperSpec" ? "whisper" : printable(spec, 40);
    in.get<std::uint32_t>("the revision");
}

void read_model(ByteReader& in, Checkpoint& into) {
    read_preamble(in, into);
    auto n = in.get<std::uint32_t>("the number of tensors");
    if (n > in.left() / tensor_bytes_min) in.fail("the file is cut or damaged: too many tensors");
    for (std::uint32_t i = 0; i < n && in.ok(); i++) read_tensor(in, into);
    auto n_aliases = in.get<std::uint32_t>("the number of aliases");
    for (std::uint32_t i = 0; i < n_aliases && in.ok(); i++) read_alias(in, into);
    if (in.ok() && in.left() > 0)
        in.fail(fmt::format("{} bytes follow the last tensor", in.left()));
}

// Moves the scales to their weights. The fault in words.
std::string attach_scales(Checkpoint& checkpoint) {
    for (auto& [name, tensor] : checkpoint.tensors) {
        if (tensor.type != Dtype::i8 || tensor.shape.empty()) continue;
        const SourceTensor* scale = checkpoint.find(name + std::string(scale_suffix));
        bool good = scale && scale->type == Dtype::f32 && tensor.n_elements() > 0 &&
                    scale->n_elements() == tensor.shape[0];
        if (!good) return fmt::format("{} has no float scale for each row", printable(name, 80));
        tensor.scale = scale->data;
    }
    std::erase_if(checkpoint.tensors,
                  [](const auto& t) { return t.first.ends_with(scale_suffix); });
    return {};
}

}  // namespace

std::optional<int> scalar_int(const Checkpoint& checkpoint, std::string_view name) {
    const SourceTensor* tensor = checkpoint.find(name);
    if (!tensor || tensor->n_elements() != 1) return std::nullopt;
    ByteReader in(tensor->data);
    switch (tensor->type) {
        case Dtype::i8: return in.get<std::int8_t>(name);
        case Dtype::i16: return in.get<std::int16_t>(name);
        case Dtype::i32: return in.get<std::int32_t>(name);
        default: return std::nullopt;
    }
}

Expected<Checkpoint> open_ctranslate2(const std::string& directory) {
    Checkpoint checkpoint;
    checkpoint.format = Checkpoint::Format::ctranslate2;
    checkpoint.directory = directory;
    std::string path = checkpoint.path("model.bin");
    TRY_SET(auto file, MappedFile::open(path));
    ByteReader in(file.bytes());
    read_model(in, checkpoint);
    std::string fault = in.ok() ? attach_scales(checkpoint) : in.fault();
    if (!fault.empty()) return Error{Code::bad_model, printable(path) + ": " + fault};
    checkpoint.files.push_back(std::move(file));
    return checkpoint;
}

}  // namespace transcribe
