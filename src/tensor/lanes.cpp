#include "tensor/lanes.h"

#include <algorithm>
#include <fstream>
#include <thread>

#include <fmt/format.h>

#include "tensor/cpu_functions.h"
#include "tensor/device.h"

#ifdef __linux__
#include <sched.h>
#endif

namespace transcribe {

namespace {

int cpus_by_affinity() {
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
#endif
    return static_cast<int>(std::thread::hardware_concurrency());
}

// The container's quota (cgroup v2: "MAX PERIOD" or "max PERIOD"), rounded up; `n` where none is
// set.
int cpus_by_quota(int n) {
    std::ifstream file("/sys/fs/cgroup/cpu.max");
    double quota = 0, period = 0;
    if (!(file >> quota >> period) || quota <= 0 || period <= 0) return n;
    return std::min(n, static_cast<int>((quota + period - 1) / period));
}

}  // namespace

int usable_cpus() {
    return std::max(1, cpus_by_quota(std::max(1, cpus_by_affinity())));
}

Expected<std::shared_ptr<Lanes>> Lanes::make(int n_lanes, int n_threads_per_lane) {
    auto lanes = std::make_shared<Lanes>();
    lanes->n_threads_ = std::clamp(n_threads_per_lane, 1, GGML_MAX_N_THREADS);
    for (int i = 0; i < n_lanes; i++) {
        ggml_threadpool_params params;
        ggml_threadpool_params_init(&params, lanes->n_threads_);
        params.paused = true;
        ggml_threadpool* pool = cpu_functions().threadpool_new(&params);
        if (!pool) {
            return Error{Code::out_of_memory,
                         fmt::format("no {} threads can be started", n_threads_per_lane)};
        }
        lanes->all_.push_back(pool);
    }
    lanes->idle_ = lanes->all_;
    return lanes;
}

Lanes::~Lanes() {
    for (ggml_threadpool* pool : all_) cpu_functions().threadpool_free(pool);
}

Lanes::Lease::Lease(Lanes& lanes) : lanes_(lanes) {
    std::unique_lock lock(lanes_.mutex_);
    lanes_.returned_.wait(lock, [&] { return !lanes_.idle_.empty(); });
    pool_ = lanes_.idle_.back();
    lanes_.idle_.pop_back();
}

Lanes::Lease::~Lease() {
    {
        std::lock_guard lock(lanes_.mutex_);
        lanes_.idle_.push_back(pool_);
    }
    lanes_.returned_.notify_one();
}

}  // namespace transcribe
