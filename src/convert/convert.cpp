#include "convert/convert.h"

#include <fmt/format.h>

#include <filesystem>
#include <new>

#include "base/text.h"
#include "convert/checkpoint.h"
#include "convert/json.h"
#include "convert/model_plan.h"
#include "convert/whisper.h"

namespace transcribe {

namespace {

constexpr i64 chunk_elements = 1 << 20;

struct FamilyConverter {
    const char* architecture;
    Expected<ModelPlan> (*plan)(const Checkpoint&, const std::string& name);
};

constexpr FamilyConverter families[] = {{"whisper", plan_whisper}};

// "org/name" of a hub is a name; any other path says where it once was.
std::string name_of(const Checkpoint& from) {
    auto json = read_json_if_any(from.path("config.json"));
    if (json && json->is_object()) {
        const Json field = json->value("_name_or_path", Json());
        std::string origin = field.is_string() ? field.get<std::string>() : "";
        size_t slash = origin.find('/');
        bool hub = slash != std::string::npos && slash == origin.rfind('/') && slash > 0 &&
                   origin[0] != '.' && slash + 1 < origin.size();
        if (hub) return origin.substr(slash + 1);
    }
    auto path = std::filesystem::weakly_canonical(native_path(from.directory));
    auto name = path.filename().u8string();
    return utf8_repair(std::string(name.begin(), name.end()));
}

Expected<ModelPlan> plan_model(const Checkpoint& from, const std::string& name) {
    for (const FamilyConverter& family : families) {
        if (from.architecture == family.architecture) return family.plan(from, name);
    }
    return Error{Code::unsupported,
                 fmt::format("{}: a {} model, and only Whisper models can be converted",
                             printable(from.directory, 1000), printable(from.architecture, 40))};
}

std::vector<GgufTensorInfo> tensor_infos(const ModelPlan& plan, Dtype type) {
    std::vector<GgufTensorInfo> out;
    for (const PlannedTensor& tensor : plan.tensors) {
        Dtype stored = stored_dtype(tensor.bucket, tensor.shape.back(), type);
        out.push_back({tensor.name, stored, {tensor.shape.rbegin(), tensor.shape.rend()}});
    }
    return out;
}

bool same_type(SourceType source, Dtype stored) {
    return (source == SourceType::f32 && stored == Dtype::f32) ||
           (source == SourceType::f16 && stored == Dtype::f16) ||
           (source == SourceType::bf16 && stored == Dtype::bf16);
}

std::span<const std::byte> part_of(const PlannedTensor& tensor, i64 n_elements) {
    size_t n_bytes = source_type_bytes(tensor.source->type);
    return tensor.source->data.subspan(static_cast<size_t>(tensor.first) * n_bytes,
                                       static_cast<size_t>(n_elements) * n_bytes);
}

Status write_converted(GgufWriter& writer, const PlannedTensor& tensor, Dtype dtype,
                       i64 n_elements) {
    i64 per_row = tensor.shape.back(), n_rows = n_elements / per_row;
    i64 rows_at_once = std::max<i64>(1, chunk_elements / per_row);
    std::vector<float> values;
    std::vector<std::byte> stored;
    for (i64 row = 0; row < n_rows; row += rows_at_once) {
        i64 n = std::min(rows_at_once, n_rows - row);
        values.resize(static_cast<size_t>(n * per_row));
        stored.resize(static_cast<size_t>(n) * row_bytes(dtype, per_row));
        tensor.source->read(tensor.first + row * per_row, values);
        from_f32(dtype, values.data(), stored.data(), n, per_row);
        TRY(writer.write(stored));
    }
    return {};
}

Status write_tensor(GgufWriter& writer, const PlannedTensor& tensor, Dtype dtype) {
    if (!tensor.source) return writer.write(std::as_bytes(std::span(tensor.computed)));
    i64 n_elements = 0;
    shape_elements(tensor.shape, n_elements);
    if (same_type(tensor.source->type, dtype)) return writer.write(part_of(tensor, n_elements));
    return write_converted(writer, tensor, dtype, n_elements);
}

std::vector<GgufKey> all_keys(const ModelPlan& plan, Dtype type) {
    std::vector<GgufKey> keys = plan.keys;
    keys.push_back({"general.file_type", std::uint32_t{file_type(type)}});
    keys.push_back({"general.quantization_version", std::uint32_t{2}});
    keys.insert(keys.end(), plan.bulk_keys.begin(), plan.bulk_keys.end());
    return keys;
}

Expected<ConvertReport> write_model(const ModelPlan& plan, const std::string& out,
                                    const ConvertOptions& options) {
    ConvertReport report{.name = plan.name, .type = options.type.value_or(plan.reference)};
    auto infos = tensor_infos(plan, report.type);
    for (const GgufTensorInfo& info : infos) report.n_bytes += info.n_bytes();
    report.n_tensors = infos.size();
    TRY_SET(auto writer, GgufWriter::create(out, all_keys(plan, report.type), infos));
    size_t n_done = 0;
    for (size_t i = 0; i < infos.size(); i++) {
        TRY(write_tensor(writer, plan.tensors[i], infos[i].dtype));
        n_done += infos[i].n_bytes();
        if (options.on_progress) {
            options.on_progress(static_cast<double>(n_done) / static_cast<double>(report.n_bytes));
        }
    }
    TRY(writer.finish());
    return report;
}

Expected<ConvertReport> convert_checked(const std::string& source, const std::string& out,
                                        const ConvertOptions& options) {
    if (options.type == Dtype::i32 || options.type == Dtype::i64) {
        return Error{Code::invalid_argument, "weights cannot be stored as integers"};
    }
    TRY_SET(auto checkpoint, open_checkpoint(source));
    TRY_SET(auto plan,
            plan_model(checkpoint, options.name.empty() ? name_of(checkpoint) : options.name));
    return write_model(plan, out, options);
}

}  // namespace

Expected<ConvertReport> convert(const std::string& source, const std::string& out,
                                const ConvertOptions& options) {
    try {
        return convert_checked(source, out, options);
    } catch (const std::bad_alloc&) {
        return Error{Code::out_of_memory,
                     printable(source, 1000) + ": not enough memory to convert it"};
    } catch (const std::exception& e) {
        return Error{Code::internal, fmt::format("{}: {}", printable(source, 1000), e.what())};
    }
}

}  // namespace transcribe
