#include "convert/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "convert/dtype_policy.h"

namespace transcribe {

namespace {

constexpr i64 block_elements_max = 1 << 20;
constexpr size_t copy_bytes_max = 4 << 20;

Dtype type_from(const PlannedTensor& tensor) {
    return tensor.source ? tensor.source->type : Dtype::f32;
}

i64 n_elements(const GgufTensorInfo& info) {
    i64 n = 0;
    shape_elements(info.shape, n);
    return n;
}

// The type of the whole file, if there is one.
std::optional<Dtype> file_dtype(const ModelPlan& plan, const ConvertOptions& options) {
    return options.type ? options.type : plan.reference;
}

std::vector<GgufTensorInfo> tensor_infos(const ModelPlan& plan, std::optional<Dtype> asked) {
    std::vector<GgufTensorInfo> out;
    for (const PlannedTensor& tensor : plan.tensors) {
        std::vector<i64> shape(tensor.shape.rbegin(), tensor.shape.rend());
        Dtype own = type_from(tensor);
        bool keeps = !asked || (tensor.source && is_integer(own) && own != Dtype::i8);
        Dtype stored = keeps ? own : stored_dtype(tensor.name, shape, *asked);
        out.push_back({tensor.name, stored, std::move(shape)});
    }
    return out;
}

// Quantizing twice adds one error to the other, and nobody would see it in the file.
Status check_types(const Checkpoint& from, const ModelPlan& plan,
                   const std::vector<GgufTensorInfo>& infos) {
    size_t n_twice = 0;
    Dtype already{};
    for (size_t i = 0; i < infos.size(); i++) {
        Dtype own = type_from(plan.tensors[i]);
        if (own == infos[i].dtype || !is_quantized(own) || !is_quantized(infos[i].dtype)) continue;
        if (n_twice++ == 0) already = own;
    }
    if (n_twice == 0) return {};
    return Error{Code::invalid_argument,
                 fmt::format("{}: {} of its tensors are quantized already (the first is {}); "
                             "quantize from an F32, F16 or BF16 file of the model",
                             printable(from.directory, 1000), n_twice, dtype_name(already))};
}

// What a type changes, summed up over a tensor.
struct Difference {
    double error = 0, power = 0;

    void add(std::span<const float> stored, std::span<const float> values) {
        for (size_t i = 0; i < values.size(); i++) {
            double d = static_cast<double>(stored[i]) - values[i];
            error += d * d;
            power += static_cast<double>(values[i]) * values[i];
        }
    }
    void add(const Difference& d) { error += d.error, power += d.power; }
    double relative() const { return power > 0 ? std::sqrt(error / power) : 0; }
};

std::vector<float> floats_of(const SourceTensor& tensor) {
    std::vector<float> out(static_cast<size_t>(tensor.n_elements()));
    tensor.read(0, out);
    return out;
}

// To rows of the matrix from `first_row` on; `a` as floats.
void add_low_rank(const LowRank& added, const std::vector<float>& a, i64 first_row,
                  std::span<float> values) {
    auto rank = static_cast<size_t>(added.a->shape[0]), n_in = a.size() / rank;
    std::vector<float> b(values.size() / n_in * rank);
    added.b->read(first_row * static_cast<i64>(rank), b);
    std::vector<float> sum(n_in);
    for (size_t row = 0; row < b.size() / rank; row++) {
        std::ranges::fill(sum, 0.0f);
        for (size_t k = 0; k < rank; k++) {
            float weight = b[row * rank + k];
            for (size_t i = 0; i < n_in; i++) sum[i] += weight * a[k * n_in + i];
        }
        for (size_t i = 0; i < n_in; i++) values[row * n_in + i] += added.scale * sum[i];
    }
}

class Storer {
  public:
    Storer(const Checkpoint& from, GgufWriter& writer) : from_(from), writer_(writer) {}

    Expected<Difference> store(const PlannedTensor& tensor, const GgufTensorInfo& info) {
        if (!tensor.source) {
            TRY(writer_.write(std::as_bytes(std::span(tensor.computed))));
            return Difference();
        }
        bool as_it_is = tensor.source->type == info.dtype && !tensor.added;
        return as_it_is ? copy(tensor, info) : change(tensor, info);
    }

  private:
    Expected<Difference> copy(const PlannedTensor& tensor, const GgufTensorInfo& info) {
        auto left = tensor.source->part(tensor.first, n_elements(info));
        while (!left.empty()) {
            auto part = left.first(std::min(left.size(), copy_bytes_max));
            TRY(writer_.write(part));
            from_.release(part);
            left = left.subspan(part.size());
        }
        return Difference();
    }

    Expected<Difference> change(const PlannedTensor& tensor, const GgufTensorInfo& info) {
        i64 per_row = info.shape[0], n_rows = n_elements(info) / per_row;
        i64 at_once = std::max<i64>(1, block_elements_max / per_row);
        Difference sum;
        std::vector<float> thin;
        if (tensor.added) thin = floats_of(*tensor.added->a);
        for (i64 row = 0; row < n_rows; row += at_once) {
            i64 n = std::min(at_once, n_rows - row);
            values_.resize(static_cast<size_t>(n * per_row));
            i64 first = tensor.first + row * per_row;
            tensor.source->read(first, values_);
            from_.release(tensor.source->part(first, n * per_row));
            if (tensor.added) add_low_rank(*tensor.added, thin, row, values_);
            TRY(check(std::ranges::all_of(values_, [](float v) { return std::isfinite(v); }),
                      tensor.name, "holds a value that is not finite"));
            stored_.resize(static_cast<size_t>(n) * row_bytes(info.dtype, per_row));
            from_f32(info.dtype, values_.data(), stored_.data(), n, per_row);
            TRY(writer_.write(stored_));
            if (info.dtype != Dtype::f32) sum.add(values_again(info.dtype), values_);
        }
        TRY(check(std::isfinite(sum.error), tensor.name,
                  fmt::format("holds a value too large for {}", dtype_name(info.dtype))));
        return sum;
    }

    std::span<const float> values_again(Dtype dtype) {
        again_.resize(values_.size());
        to_f32(dtype, stored_.data(), again_.data(), static_cast<i64>(again_.size()));
        return again_;
    }

    Status check(bool holds, const std::string& name, std::string_view fault) const {
        if (holds) return {};
        return Error{Code::bad_model,
                     fmt::format("{}: the tensor {} {}", printable(from_.directory, 1000),
                                 printable(name, 80), fault)};
    }

    const Checkpoint& from_;
    GgufWriter& writer_;
    std::vector<float> values_, again_;
    std::vector<std::byte> stored_;
};

std::vector<GgufKey> all_keys(const ModelPlan& plan, std::optional<Dtype> type) {
    std::vector<GgufKey> keys = plan.keys;
    if (type) {
        constexpr const char *number = "general.file_type",
                             *version = "general.quantization_version";
        std::erase_if(keys, [&](auto& key) { return key.name == number || key.name == version; });
        const FileType* known = file_type_of(*type);
        keys.push_back({number, std::uint32_t{known ? known->number : 0}});
        keys.push_back({version, std::uint32_t{2}});
    }
    keys.insert(keys.end(), plan.bulk_keys.begin(), plan.bulk_keys.end());
    return keys;
}

size_t source_bytes(const PlannedTensor& tensor) {
    i64 n = 0;
    shape_elements(tensor.shape, n);
    return n > 0 ? row_bytes(type_from(tensor), n) : 0;
}

}  // namespace

size_t ConvertReport::n_bytes_from() const {
    size_t n = 0;
    for (const StoredTensor& tensor : tensors) n += tensor.n_bytes_from;
    return n;
}

size_t ConvertReport::n_bytes() const {
    size_t n = 0;
    for (const StoredTensor& tensor : tensors) n += tensor.n_bytes;
    return n;
}

Expected<ConvertReport> store_model(const Checkpoint& from, const ModelPlan& plan,
                                    const std::string& out, const ConvertOptions& options) {
    std::optional<Dtype> type = file_dtype(plan, options);
    const FileType* known = type ? file_type_of(*type) : nullptr;
    if (type && !known) return Error{Code::invalid_argument, "no file can be stored in this type"};
    auto infos = tensor_infos(plan, type);
    TRY(check_types(from, plan, infos));
    ConvertReport report;
    report.name = plan.name;
    report.type = known ? known->name : "their own types";
    size_t n_total = 0, n_done = 0;
    for (const GgufTensorInfo& info : infos) n_total += info.n_bytes();
    TRY_SET(auto writer, GgufWriter::create(out, all_keys(plan, type), infos));
    Storer storer(from, writer);
    Difference all;
    for (size_t i = 0; i < infos.size(); i++) {
        const PlannedTensor& tensor = plan.tensors[i];
        TRY_SET(auto difference, storer.store(tensor, infos[i]));
        all.add(difference);
        report.tensors.push_back({tensor.name, type_from(tensor), infos[i].dtype,
                                  source_bytes(tensor), infos[i].n_bytes(), difference.relative()});
        n_done += infos[i].n_bytes();
        double share = static_cast<double>(n_done) / static_cast<double>(n_total);
        if (options.on_progress) options.on_progress(share);
    }
    TRY(writer.finish());
    report.error = all.relative();
    return report;
}

}  // namespace transcribe
