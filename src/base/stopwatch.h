// Adds the milliseconds of its life to a sum.
#pragma once

#include <chrono>

namespace transcribe {

class Stopwatch {
  public:
    explicit Stopwatch(double& sum_ms) : sum_ms_(sum_ms) {}
    ~Stopwatch() { sum_ms_ += elapsed_ms(); }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;
    double elapsed_ms() const {
        return std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
    }

  private:
    using Clock = std::chrono::steady_clock;
    double& sum_ms_;
    Clock::time_point start_ = Clock::now();
};

}  // namespace transcribe
