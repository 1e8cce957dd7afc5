// CPU threads: owned once, lent to sessions.
//
// A lane is a team of threads. A session borrows a lane for the time it computes and waits its turn
// when all are out, so there are never more computing threads than the lanes hold, and no graph
// makes threads of its own.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "tensor/team.h"

namespace transcribe {

// Processors this process may use (affinity and container limits counted), at least 1.
int usable_cpus();

class Lanes {
  public:
    Lanes() = default;
    static Expected<std::shared_ptr<Lanes>> make(int n_lanes, int n_threads_per_lane);

    class Lease {  // gives its lane back when it goes
      public:
        explicit Lease(Lanes& lanes);
        ~Lease();
        Lease(const Lease&) = delete;
        Lease& operator=(const Lease&) = delete;
        Team& team() const { return *team_; }

      private:
        Lanes& lanes_;
        Team* team_;
    };

  private:
    std::mutex mutex_;
    std::condition_variable returned_;
    std::vector<std::unique_ptr<Team>> all_;
    std::vector<Team*> idle_;
};

}  // namespace transcribe
