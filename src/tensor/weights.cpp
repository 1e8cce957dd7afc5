#include "tensor/weights.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include <fmt/format.h>
#include <ggml-backend.h>
#include <ggml-cpp.h>

#include "base/check.h"
#include "tensor/team.h"

namespace transcribe {

namespace {

constexpr size_t n_tensors_max = 1 << 16;

bool stays(Role role, Dtype dtype) {
    bool is_float = dtype == Dtype::f32 || dtype == Dtype::f16;
    switch (role) {
        case Role::matrix: return true;
        case Role::kernel: return is_float;
        default: return dtype == Dtype::f32;
    }
}

// Of data in memory that kernels read in place: GGUF's default, and ggml's for its own buffers.
constexpr std::uintptr_t alignment = 32;

bool in_place(Role role, const GgufTensor* stored) {
    return stored && stays(role, stored->dtype) &&
           reinterpret_cast<std::uintptr_t>(stored->data.data()) % alignment == 0;
}

bool allowed(Role role, Dtype dtype) {
    if (role == Role::matrix) return !is_integer(dtype);
    return dtype == Dtype::f32 || dtype == Dtype::f16 || dtype == Dtype::bf16;
}

// Ones do not count: [d, 1] is [d], and the kernel of a convolution that sees one frame, [1, d, n],
// is a matrix.
bool same_shape(const std::vector<i64>& stored, const Shape& wanted) {
    auto is_many = [](i64 n) { return n != 1; };
    std::vector<i64> ours, theirs;
    std::ranges::copy_if(stored, std::back_inserter(theirs), is_many);
    std::ranges::copy_if(wanted.ne, std::back_inserter(ours), is_many);
    return ours == theirs;
}

std::vector<float> read_f32(const GgufTensor& tensor) {
    i64 n_rows = 1;
    for (size_t i = 1; i < tensor.shape.size(); i++) n_rows *= tensor.shape[i];
    std::vector<float> out(static_cast<size_t>(n_rows * tensor.shape[0]));
    size_t stride = row_bytes(tensor.dtype, tensor.shape[0]);
    for (i64 row = 0; row < n_rows; row++) {
        to_f32(tensor.dtype, tensor.data.data() + static_cast<size_t>(row) * stride,
               &out[static_cast<size_t>(row * tensor.shape[0])], tensor.shape[0]);
    }
    return out;
}

}  // namespace

struct Weights::Entry {
    ggml_tensor* t = nullptr;
    std::vector<const GgufTensor*> from;  // one: as stored; with fill: sources
    Fill fill;
    bool in_place = false;
    bool is_matrix = false;
};

struct Weights::Memory {
    ggml_context_ptr ctx;
    std::vector<Entry> entries;
    std::unordered_set<std::string> used;
    std::vector<ggml_backend_buffer_ptr> buffers;
    std::unique_ptr<float[]> packed;
};

Weights::Weights(std::shared_ptr<const Gguf> file)
    : file_(std::move(file)), memory_(std::make_unique<Memory>()) {
    size_t n = file_ ? std::min(n_tensors_max, 2 * file_->tensors().size() + 64) : n_tensors_max;
    memory_->ctx.reset(ggml_init({ggml_tensor_overhead() * n, nullptr, true}));
}

Weights::~Weights() = default;

Scope Scope::operator/(std::string_view child) const {
    return Scope(*weights_, fmt::format("{}{}.", prefix_, child));
}

Scope Scope::operator[](int index) const {
    return Scope(*weights_, fmt::format("{}{}.", prefix_, index));
}

Weight Scope::need(const char* leaf, Role role, const Shape& shape) const {
    const GgufTensor* stored = weights_->look_up(prefix_ + leaf, role, shape, true);
    return weights_->add_stored(stored, role, shape);
}

Weight Scope::maybe(const char* leaf, Role role, const Shape& shape) const {
    const GgufTensor* stored = weights_->look_up(prefix_ + leaf, role, shape, false);
    return stored ? weights_->add_stored(stored, role, shape) : Weight{};
}

Weight Scope::derive(std::initializer_list<Source> from, const Shape& shape, Fill fill) const {
    const bool is_matrix = from.begin()->role == Role::matrix || from.begin()->role == Role::kernel;
    Weights::Entry entry{nullptr, {}, std::move(fill), false, is_matrix};
    for (const Source& s : from) {
        entry.from.push_back(weights_->look_up(prefix_ + s.leaf, s.role, s.shape, true));
    }
    const GgufTensor* first = entry.from[0];
    Dtype dtype = first && stays(from.begin()->role, first->dtype) ? first->dtype : Dtype::f32;
    return weights_->add(std::move(entry), dtype, shape);
}

const GgufTensor* Weights::look_up(const std::string& name, Role role, const Shape& shape,
                                   bool required) {
    if (memory_->used.insert(name).second) schema_.push_back({name, shape, role});
    if (!file_) return nullptr;
    const GgufTensor* stored = file_->find(name);
    if (!stored) {
        if (required) problems_.add(fmt::format("the tensor {} is missing", name));
        return nullptr;
    }
    if (!same_shape(stored->shape, shape)) {
        problems_.add(fmt::format("the tensor {} has shape [{}], expected {}", name,
                                  fmt::join(stored->shape, ", "), shape.text()));
        return nullptr;
    }
    if (!allowed(role, stored->dtype)) {
        problems_.add(fmt::format("the tensor {} is stored as {}, which its use does not allow",
                                  name, dtype_name(stored->dtype)));
        return nullptr;
    }
    return stored;
}

Weight Weights::add_stored(const GgufTensor* stored, Role role, const Shape& shape) {
    Dtype dtype = stored && stays(role, stored->dtype) ? stored->dtype : Dtype::f32;
    return add({nullptr, {stored}, {}, in_place(role, stored), role == Role::matrix}, dtype, shape);
}

Weight Weights::add(Entry entry, Dtype dtype, const Shape& shape) {
    CHECK(memory_->entries.size() < n_tensors_max);
    entry.t = ggml_new_tensor(memory_->ctx.get(), static_cast<ggml_type>(dtype), shape.n,
                              shape.ne.data());
    memory_->entries.push_back(std::move(entry));
    return {memory_->entries.back().t};
}

Status Weights::finish(Device device, const Packer& packer) {
    CHECK(file_);
    TRY(problems_.done(Code::bad_model, file_->path()));
    TRY(map_in_place(device));
    TRY(allocate_rest(device));
    return packer && device.is_cpu() ? pack(packer) : Status{};
}

// One allocation for all. Pages of the file are not needed any more, but for rows of a table.
Status Weights::pack(const Packer& packer) {
    constexpr size_t line = 64 / sizeof(float), n_shares = 16;
    auto whole_lines = [](size_t n) { return (n + line - 1) / line * line; };
    size_t n_floats = line;
    for (const Entry& e : memory_->entries) {
        if (e.is_matrix) n_floats += whole_lines(packer.n_floats(*e.t));
    }
    memory_->packed = std::make_unique_for_overwrite<float[]>(n_floats);
    void* start = memory_->packed.get();
    size_t room = n_floats * sizeof(float);
    auto* at = static_cast<float*>(std::align(line * sizeof(float), sizeof(float), start, room));
    TRY_SET(auto team, Team::make(packer.n_threads));
    for (const Entry& e : memory_->entries) {
        if (!e.is_matrix) continue;
        team->run(n_shares, [&](size_t i) { packer.pack(*e.t, at, i, n_shares); });
        e.t->extra = at;
        at += whole_lines(packer.n_floats(*e.t));
        if (e.in_place) file_->release(e.from[0]->data);
    }
    return {};
}

// The mapped file as a device buffer, where the device takes host memory (the CPU does).
Status Weights::map_in_place(Device device) {
    if (!device.is_cpu()) return {};
    const GgufTensor* low = nullptr;
    for (const Entry& e : memory_->entries) {
        if (e.in_place && (!low || e.from[0]->data.data() < low->data.data())) low = e.from[0];
    }
    if (!low) return {};
    auto* base = const_cast<std::byte*>(low->data.data());  // mapped read-only, never written
    size_t n_bytes = 0;
    for (const Entry& e : memory_->entries) {
        if (!e.in_place) continue;
        const std::byte* end = e.from[0]->data.data() + e.from[0]->data.size();
        n_bytes = std::max(n_bytes, static_cast<size_t>(end - base));
    }
    ggml_backend_buffer_t buffer =
        ggml_backend_dev_buffer_from_host_ptr(device.dev, base, n_bytes, n_bytes);
    if (!buffer) return Error{Code::backend, "the model file cannot be mapped for the device"};
    memory_->buffers.emplace_back(buffer);
    ggml_backend_buffer_set_usage(buffer, GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    for (const Entry& e : memory_->entries) {
        if (!e.in_place) continue;
        auto* at = const_cast<std::byte*>(e.from[0]->data.data());
        CHECK(ggml_backend_tensor_alloc(buffer, e.t, at) == GGML_STATUS_SUCCESS);
    }
    return {};
}

// What is not in place: one allocation, then values (converted, derived, or copied to the device).
Status Weights::allocate_rest(Device device) {
    bool any = false;
    for (const Entry& e : memory_->entries) any = any || !e.t->data;
    if (!any) return {};
    ggml_backend_buffer_t buffer = ggml_backend_alloc_ctx_tensors_from_buft(
        memory_->ctx.get(), ggml_backend_dev_buffer_type(device.dev));
    if (!buffer) {
        return Error{Code::out_of_memory,
                     fmt::format("{}: the device {} has no memory for the weights", file_->path(),
                                 device.name())};
    }
    memory_->buffers.emplace_back(buffer);
    ggml_backend_buffer_set_usage(buffer, GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    for (const Entry& e : memory_->entries) {
        if (e.t->buffer != buffer) continue;
        if (!e.fill && static_cast<Dtype>(e.t->type) == e.from[0]->dtype) {
            ggml_backend_tensor_set(e.t, e.from[0]->data.data(), 0, e.from[0]->data.size());
            file_->release(e.from[0]->data);
            continue;
        }
        std::vector<std::vector<float>> from;
        for (const GgufTensor* source : e.from) {
            from.push_back(read_f32(*source));
            file_->release(source->data);
        }
        std::vector<float> values(static_cast<size_t>(ggml_nelements(e.t)));
        e.fill ? e.fill(from, values) : values.swap(from[0]);
        std::vector<std::byte> raw(ggml_nbytes(e.t));
        from_f32(static_cast<Dtype>(e.t->type), values.data(), raw.data(), ggml_nrows(e.t),
                 e.t->ne[0]);
        ggml_backend_tensor_set(e.t, raw.data(), 0, raw.size());
    }
    return {};
}

std::vector<std::string> Weights::unused() const {
    std::vector<std::string> names;
    for (const GgufTensor& t : file_->tensors()) {
        if (!memory_->used.contains(t.name)) names.push_back(t.name);
    }
    return names;
}

i64 Weights::n_params() const {
    i64 n = 0;
    for (const Entry& e : memory_->entries) n += ggml_nelements(e.t);
    return n;
}

std::vector<float> Weights::host_copy(std::string_view name, const Shape& shape) {
    const GgufTensor* stored = look_up(std::string(name), Role::table, shape, true);
    return stored ? read_f32(*stored) : std::vector<float>{};
}

}  // namespace transcribe
