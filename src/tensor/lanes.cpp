#include "tensor/lanes.h"

#include <algorithm>
#include <fstream>
#include <thread>

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
    for (int i = 0; i < n_lanes; i++) {
        TRY_SET(auto team, Team::make(n_threads_per_lane));
        lanes->idle_.push_back(team.get());
        lanes->all_.push_back(std::move(team));
    }
    return lanes;
}

Lanes::Lease::Lease(Lanes& lanes) : lanes_(lanes) {
    std::unique_lock lock(lanes_.mutex_);
    lanes_.returned_.wait(lock, [&] { return !lanes_.idle_.empty(); });
    team_ = lanes_.idle_.back();
    lanes_.idle_.pop_back();
}

Lanes::Lease::~Lease() {
    {
        std::lock_guard lock(lanes_.mutex_);
        lanes_.idle_.push_back(team_);
    }
    lanes_.returned_.notify_one();
}

}  // namespace transcribe
