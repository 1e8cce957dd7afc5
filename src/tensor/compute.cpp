#include "tensor/compute.h"

#include <optional>

#include <fmt/format.h>
#include <ggml-backend.h>
#include <ggml-cpp.h>

#include "base/check.h"
#include "tensor/cpu_functions.h"

namespace transcribe {

namespace {

constexpr int n_nodes_max = 8192;

Shape shape_of(const ggml_tensor* t) {
    return {t->ne[0], t->ne[1], t->ne[2], t->ne[3]};
}

// Values of a node as F32, in memory order of its shape.
std::vector<float> to_host(const ggml_tensor* t) {
    std::vector<float> values(static_cast<size_t>(ggml_nelements(t)));
    std::vector<std::byte> raw(ggml_nbytes(t));
    ggml_backend_tensor_get(t, raw.data(), 0, raw.size());
    size_t at = 0;
    for (i64 i3 = 0; i3 < t->ne[3]; i3++) {
        for (i64 i2 = 0; i2 < t->ne[2]; i2++) {
            for (i64 i1 = 0; i1 < t->ne[1]; i1++) {
                size_t offset = static_cast<size_t>(i1) * t->nb[1] +
                                static_cast<size_t>(i2) * t->nb[2] +
                                static_cast<size_t>(i3) * t->nb[3];
                to_f32(static_cast<Dtype>(t->type), raw.data() + offset, &values[at], t->ne[0]);
                at += static_cast<size_t>(t->ne[0]);
            }
        }
    }
    return values;
}

bool observable(const ggml_tensor* t) {
    return t->name[0] != '\0' && t->nb[0] == ggml_type_size(t->type) && t->type != GGML_TYPE_I32 &&
           t->type != GGML_TYPE_I64;
}

bool on_node(ggml_tensor* t, bool ask, void* user) {
    auto* sink = static_cast<TapSink*>(user);
    if (ask) return observable(t) && sink->wants(t->name);
    sink->take(t->name, shape_of(t), to_host(t));
    return true;
}

bool on_abort(void* user) {
    return static_cast<std::atomic<bool>*>(user)->load();
}

}  // namespace

struct Held::Memory {
    ggml_context_ptr ctx;
    ggml_backend_buffer_ptr buffer;
};
Held::Held() = default;
Held::~Held() = default;
Held::Held(Held&&) noexcept = default;
Held& Held::operator=(Held&&) noexcept = default;

size_t Held::n_bytes() const {
    return ggml_backend_buffer_get_size(memory_->buffer.get());
}

struct Compute::Parts {
    BackendPtr device, cpu;  // `device` is empty when the device is the CPU
    ggml_backend_sched_ptr sched;
    std::vector<std::byte> arena;
    ggml_context_ptr ctx;
    std::optional<Graph> graph;
    bool allocated = false;
};

Expected<std::unique_ptr<Compute>> Compute::make(Device device, std::shared_ptr<Lanes> lanes) {
    auto compute = std::make_unique<Compute>();
    compute->device_ = device;
    compute->lanes_ = std::move(lanes);
    compute->parts_ = std::make_unique<Parts>();
    Parts& p = *compute->parts_;
    TRY_SET(p.cpu, open_backend(Device::cpu()));
    if (!device.is_cpu()) {
        TRY_SET(p.device, open_backend(device));
    }
    std::vector<ggml_backend_t> backends;
    if (p.device) backends.push_back(p.device.get());
    backends.push_back(p.cpu.get());
    p.sched.reset(ggml_backend_sched_new(
        backends.data(), nullptr, static_cast<int>(backends.size()), n_nodes_max, false, true));
    // Our own nodes share the work out among the team; what is left to ggml is small.
    cpu_functions().set_n_threads(p.cpu.get(), 1);
    cpu_functions().set_abort_callback(p.cpu.get(), on_abort, &compute->cancelled_);
    p.arena.resize(ggml_tensor_overhead() * n_nodes_max +
                   ggml_graph_overhead_custom(n_nodes_max, false));
    return compute;
}

Compute::Compute() = default;
Compute::~Compute() = default;

Graph& Compute::begin() {
    Parts& p = *parts_;
    p.graph.reset();
    p.ctx.reset(ggml_init({p.arena.size(), p.arena.data(), true}));
    ggml_backend_sched_reset(p.sched.get());
    p.allocated = false;
    p.graph.emplace(p.ctx.get(), n_nodes_max, on_cpu(), &team_);
    p.graph->flash = flash;
    return *p.graph;
}

Status Compute::run(std::span<const Feed> feeds) {
    CHECK(n_leases_ > 0);
    Parts& p = *parts_;
    if (cancelled_) return Error{Code::aborted, "cancelled"};
    if (!p.allocated) {
        if (!ggml_backend_sched_alloc_graph(p.sched.get(), p.graph->nodes)) {
            return Error{Code::out_of_memory, "there is no memory for the work buffers of a graph"};
        }
        p.allocated = true;
    }
    for (const Feed& feed : feeds) {
        CHECK(feed.n_bytes == ggml_nbytes(feed.to.t));
        ggml_backend_tensor_set(feed.to.t, feed.data, 0, feed.n_bytes);
        if (sink_ && observable(feed.to.t) && sink_->wants(feed.to.t->name)) {
            sink_->take(feed.to.t->name, shape_of(feed.to.t), to_host(feed.to.t));
        }
    }
    switch (ggml_backend_sched_graph_compute(p.sched.get(), p.graph->nodes)) {
        case GGML_STATUS_SUCCESS: return {};
        case GGML_STATUS_ABORTED: return Error{Code::aborted, "cancelled"};
        case GGML_STATUS_ALLOC_FAILED:
            return Error{Code::out_of_memory, "there is no memory for the work buffers of a graph"};
        default: return Error{Code::backend, fmt::format("the device {} failed", device_.name())};
    }
}

std::span<float> Compute::values(Tensor kept) {
    CHECK(kept.t->type == GGML_TYPE_F32 && ggml_is_contiguous(kept.t));
    if (kept.t->buffer && ggml_backend_buffer_is_host(kept.t->buffer)) {
        return {static_cast<float*>(kept.t->data), static_cast<size_t>(ggml_nelements(kept.t))};
    }
    copied_ = to_host(kept.t);
    return copied_;
}

Expected<Held> Compute::hold(Dtype dtype, std::span<const Shape> shapes) {
    Held held;
    held.memory_ = std::make_unique<Held::Memory>();
    held.memory_->ctx.reset(ggml_init({ggml_tensor_overhead() * shapes.size(), nullptr, true}));
    size_t n_bytes = 0;
    for (const Shape& shape : shapes) {
        ggml_tensor* t = ggml_new_tensor(held.memory_->ctx.get(), static_cast<ggml_type>(dtype),
                                         shape.n, shape.ne.data());
        held.tensors_.push_back(t);
        n_bytes += ggml_nbytes(t);
    }
    ggml_backend_t backend = parts_->device ? parts_->device.get() : parts_->cpu.get();
    held.memory_->buffer.reset(ggml_backend_alloc_ctx_tensors(held.memory_->ctx.get(), backend));
    if (!held.memory_->buffer) {
        return Error{Code::out_of_memory,
                     fmt::format("there is no memory for {} MB of caches", n_bytes >> 20)};
    }
    ggml_backend_buffer_clear(held.memory_->buffer.get(), 0);
    return held;
}

Compute::Lease::Lease(Compute& compute) : compute_(compute), lane_(*compute.lanes_) {
    compute_.team_ = &lane_.team();
    compute_.n_leases_++;
}

Compute::Lease::~Lease() {
    compute_.n_leases_--;
    compute_.team_ = nullptr;
}

void Compute::observe(TapSink* sink) {
    sink_ = sink;
    ggml_backend_sched_set_eval_callback(parts_->sched.get(), sink ? on_node : nullptr, sink);
}

}  // namespace transcribe
