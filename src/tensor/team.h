// Threads that work together on the loops of a graph: the caller and its helpers.
//
// Work is a number of shares, each done once by whoever is free, so that a thread that loses its
// processor to another program holds up no more than the share it has begun. Helpers poll for new
// work for a moment, since the next loop of a graph mostly follows at once, and then sleep; nobody
// spins for long.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "base/error.h"

namespace transcribe {

class Team {
  public:
    // Errors: out_of_memory, when threads cannot be started.
    static Expected<std::unique_ptr<Team>> make(int n_threads);
    Team() = default;
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;
    int n_threads() const { return static_cast<int>(helpers_.size()) + 1; }

    // Calls work(i) for i = 0 ... n - 1 on all threads and returns when all are done. One caller at
    // a time; `work` must not throw.
    template <class Work>
    void run(size_t n, const Work& work) {
        run({[](const void* w, size_t i) { (*static_cast<const Work*>(w))(i); }, &work}, n);
    }

  private:
    struct Call {
        void (*function)(const void*, size_t);
        const void* work;
    };
    void run(const Call& call, size_t n);
    bool do_one();
    void help();

    // Which job (upper 32 bits), its next share, and how many it has (16 bits each): a share is
    // claimed by one exchange, which fails when the job is over.
    std::atomic<std::uint64_t> state_ = 0;
    std::atomic<std::uint32_t> n_done_ = 0, n_jobs_ = 0, n_sleeping_ = 0;
    std::atomic<bool> stop_ = false;
    Call call_{};
    std::vector<std::thread> helpers_;
};

}  // namespace transcribe
