// One line on standard error that says how far the work is: on a terminal a bar that is drawn over
// itself and taken away at the end, elsewhere (where it was asked for) a plain line now and then.
#pragma once

#include <chrono>
#include <string>

namespace transcribe::cli {

enum class Unit { seconds, bytes, count };

struct ProgressState {
    std::string label;
    double done = 0, total = 0;  // total 0: not known
    double elapsed_s = 0;
    Unit unit = Unit::seconds;
};

// "talk.wav [#####.....]  50%  1:00 of 2:00, 0:10 elapsed, 0:10 left", at most n_columns wide.
std::string progress_line(const ProgressState& state, int n_columns);
std::string clock_text(double seconds);  // 1:02, 1:00:05

class Progress {
  public:
    enum class Kind { none, bar, lines };
    explicit Progress(Kind kind) : kind_(kind) {}
    ~Progress() { clear(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    bool is_shown() const { return kind_ != Kind::none; }
    void start(const std::string& label, Unit unit);
    void label(const std::string& label) { state_.label = label; }  // of the same work
    void update(double done, double total);
    void clear();  // so that other text may be printed; the next update draws again

  private:
    using Clock = std::chrono::steady_clock;
    Kind kind_;
    ProgressState state_;
    Clock::time_point started_, drawn_;
    bool visible_ = false;
};

}  // namespace transcribe::cli
