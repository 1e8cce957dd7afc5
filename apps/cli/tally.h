// What becomes of the inputs of a run: how much of the sound is done, which failed, and what the
// program's end tells a script.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/exit_code.h"

namespace transcribe::cli {

class Tally {
  public:
    explicit Tally(size_t n_inputs) : parts_(n_inputs) {}

    // Inputs are counted by their index. `total_s` 0: not known.
    void progress(size_t input, double done_s, double total_s) {
        parts_[input] = {done_s, total_s};
    }
    // Nothing: it will not be read.
    void expect(size_t input, std::optional<double> total_s) {
        parts_[input] = {0, total_s.value_or(0), !total_s};
    }
    void skip(size_t input);
    void done(size_t input);
    void fail(size_t input, const std::string& name, ExitCode code);

    double done_s() const;
    double total_s() const;  // of all inputs; 0 where one of them is not known
    // 0; that of the fault where nothing was done and all faults are alike; else 1.
    ExitCode code() const;
    // "2 of 12 inputs failed: a.wav, b.wav", "3 of 12 inputs skipped: their files exist"; empty
    // where there are none, or there is one input only.
    std::string failures() const;
    std::string skips() const;
    size_t n_done() const { return n_done_; }
    size_t n_inputs() const { return parts_.size(); }

  private:
    struct Part {  // of the sound, in seconds
        double done_s = 0, total_s = 0;
        bool left_out = false;
    };
    std::vector<Part> parts_;
    std::vector<std::string> failed_;
    std::set<ExitCode> faults_;
    size_t n_done_ = 0, n_skipped_ = 0;
};

}  // namespace transcribe::cli
