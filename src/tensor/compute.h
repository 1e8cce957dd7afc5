// A session's machine: the only code that allocates, feeds, runs, reads and observes graphs.
//
// One arena and one scheduler serve one graph at a time: begin() starts a graph and ends the one
// before. A graph may be run many times with new inputs (a decoder step); memory between graphs is
// Held.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tensor/device.h"
#include "tensor/graph.h"
#include "tensor/lanes.h"

struct ggml_backend_buffer;
struct ggml_backend_sched;

namespace transcribe {

// Watches named nodes while graphs run. One caveat: a backend that fuses nodes cannot fuse across
// an observed one, so the last bits may differ from an unobserved run.
class TapSink {
  public:
    virtual ~TapSink() = default;
    virtual bool wants(std::string_view name) = 0;
    virtual void take(std::string_view name, const Shape&, std::span<const float> values) = 0;
};

struct Feed {
    Tensor to;
    const void* data;
    size_t n_bytes;
    template <class T>
    Feed(Tensor tensor, const std::vector<T>& values)
        : to(tensor), data(values.data()), n_bytes(values.size() * sizeof(T)) {}
};

// Tensors of a session that outlive graphs, in one allocation.
class Held {
  public:
    ~Held();
    Held(Held&&) noexcept;
    Held& operator=(Held&&) noexcept;
    HeldView operator[](size_t i) const { return {tensors_[i]}; }
    size_t n_bytes() const;

  private:
    friend class Compute;
    Held();
    struct Memory;
    std::unique_ptr<Memory> memory_;
    std::vector<ggml_tensor*> tensors_;
};

class Compute {
  public:
    Compute();
    static Expected<std::unique_ptr<Compute>> make(Device device, std::shared_ptr<Lanes> lanes);
    ~Compute();

    // Starts an empty graph; the one before is gone.
    Graph& begin();
    // Allocates at the first run of a graph, feeds, computes. Errors: aborted, out_of_memory,
    // backend.
    Status run(std::span<const Feed> feeds);
    Status run(std::initializer_list<Feed> feeds) {
        return run(std::span<const Feed>(feeds.begin(), feeds.size()));
    }
    // Values of a kept F32 node after a run: in place on the CPU, copied elsewhere. Valid until the
    // next run or begin.
    std::span<float> values(Tensor kept);

    Expected<Held> hold(Dtype, std::span<const Shape> shapes);

    // CPU threads, borrowed for as long as the lease lives; run() outside of a lease is a bug.
    class Lease {
      public:
        explicit Lease(Compute& compute);
        ~Lease();
        Lease(const Lease&) = delete;
        Lease& operator=(const Lease&) = delete;

      private:
        Compute& compute_;
        Lanes::Lease lane_;
    };

    void observe(TapSink* sink);
    TapSink* sink() const { return sink_; }
    // Set from any thread; run() then returns `aborted` within one node on the CPU, one graph
    // elsewhere.
    std::atomic<bool>& cancelled() { return cancelled_; }
    bool on_cpu() const { return device_.is_cpu(); }
    bool flash = true;  // for graphs begun from now on
    // What graphs that encode sound or read a prompt take for Graph::rounding.
    Rounding rounding = Rounding::none;

  private:
    struct Parts;
    Device device_;
    std::shared_ptr<Lanes> lanes_;
    std::unique_ptr<Parts> parts_;
    std::vector<float> copied_;
    TapSink* sink_ = nullptr;
    std::atomic<bool> cancelled_ = false;
    Team* team_ = nullptr;  // of the lease
    int n_leases_ = 0;
};

}  // namespace transcribe
