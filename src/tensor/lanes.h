// CPU threads: owned once, lent to sessions.
//
// A lane is one ggml thread pool. A session borrows a lane for the time it computes and waits its
// turn when all are out, so there are never more computing threads than the lanes hold, and no
// graph makes threads of its own.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "base/error.h"

struct ggml_threadpool;

namespace transcribe {

// Processors this process may use (affinity and container limits counted), at least 1.
int usable_cpus();

class Lanes {
  public:
    Lanes() = default;
    static Expected<std::shared_ptr<Lanes>> make(int n_lanes, int n_threads_per_lane);
    ~Lanes();
    int n_threads() const { return n_threads_; }

    class Lease {  // gives its lane back when it goes
      public:
        explicit Lease(Lanes& lanes);
        ~Lease();
        Lease(const Lease&) = delete;
        Lease& operator=(const Lease&) = delete;
        ggml_threadpool* pool() const { return pool_; }

      private:
        Lanes& lanes_;
        ggml_threadpool* pool_;
    };

  private:
    int n_threads_ = 0;
    std::mutex mutex_;
    std::condition_variable returned_;
    std::vector<ggml_threadpool*> all_, idle_;
};

}  // namespace transcribe
