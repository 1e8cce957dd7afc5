#include "tensor/team.h"

#include <chrono>
#include <system_error>

#include "base/check.h"

namespace transcribe {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto polling = std::chrono::microseconds(100);
constexpr int n_polls_between_looks = 64;  // at the clock
constexpr size_t n_shares_max = 0xFFFF;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// Until `holds` or the time is over; says which.
template <class Holds>
bool poll(const Holds& holds) {
    auto until = Clock::now() + polling;
    do {
        for (int i = 0; i < n_polls_between_looks; i++) {
            if (holds()) return true;
            relax();
        }
    } while (Clock::now() < until);
    return false;
}

}  // namespace

Expected<std::unique_ptr<Team>> Team::make(int n_threads) {
    auto team = std::make_unique<Team>();
    try {
        for (int i = 1; i < n_threads; i++) team->helpers_.emplace_back(&Team::help, team.get());
    } catch (const std::system_error&) {
        return Error{Code::out_of_memory,
                     "the system starts no more threads; ask for fewer (--threads)"};
    }
    return team;
}

Team::~Team() {
    stop_ = true;
    n_jobs_++;
    n_jobs_.notify_all();
    for (std::thread& helper : helpers_) helper.join();
}

// Takes a share of the job under way and does it; false when none is left.
bool Team::do_one() {
    std::uint64_t state = state_.load(std::memory_order_acquire);
    while (true) {
        std::uint64_t next = state >> 16 & 0xFFFF, n = state & 0xFFFF;
        if (next >= n) return false;
        if (!state_.compare_exchange_weak(state, state + 0x10000, std::memory_order_acq_rel)) {
            continue;
        }
        // The job cannot end before this share is done: its call stays.
        call_.function(call_.work, next);
        if (n_done_.fetch_add(1) + 1 == n) n_done_.notify_one();
        return true;
    }
}

void Team::run(const Call& call, size_t n) {
    CHECK(n <= n_shares_max);
    if (helpers_.empty() || n <= 1) {
        for (size_t i = 0; i < n; i++) call.function(call.work, i);
        return;
    }
    call_ = call;
    n_done_ = 0;
    std::uint64_t job = (state_.load(std::memory_order_relaxed) >> 32) + 1;
    state_.store(job << 32 | n);
    n_jobs_++;
    if (n_sleeping_ > 0) n_jobs_.notify_all();
    while (do_one()) {
    }
    if (poll([&] { return n_done_ == n; })) return;
    for (std::uint32_t done = n_done_; done != n; done = n_done_) n_done_.wait(done);
}

void Team::help() {
    while (!stop_) {
        std::uint32_t seen = n_jobs_;
        while (do_one()) {
        }
        if (poll([&] { return n_jobs_ != seen; })) continue;
        n_sleeping_++;
        n_jobs_.wait(seen);
        n_sleeping_--;
    }
}

}  // namespace transcribe
