#include "cli/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/system.h"

namespace transcribe::cli {

namespace {

constexpr int n_bar_cells = 20;

std::string amount(double value, Unit unit) {
    if (unit == Unit::bytes) return fmt::format("{:.1f} MB", value / 1e6);
    return unit == Unit::count ? fmt::format("{:.0f}", value) : clock_text(value);
}

std::string bar(double share) {
    const auto n_full = static_cast<size_t>(share * n_bar_cells);
    return fmt::format("[{:.<{}}] {:3}%", std::string(n_full, '#'), n_bar_cells,
                       static_cast<int>(share * 100));
}

// Whole UTF-8 characters from the front, as many as fit; counts bytes, so it may cut early.
std::string fit(std::string text, int n_columns) {
    const auto n_max = static_cast<size_t>(std::max(n_columns, 0));
    if (text.size() <= n_max) return text;
    text.resize(n_max);
    text.resize(utf8_complete_prefix(text));
    return text;
}

}  // namespace

std::string clock_text(double seconds) {
    const auto s = static_cast<long long>(std::clamp(seconds, 0.0, 1e9));
    if (s < 3600) return fmt::format("{}:{:02}", s / 60, s % 60);
    return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

std::string progress_line(const ProgressState& state, int n_columns) {
    std::string line;
    if (state.total > 0) {
        const double share = std::clamp(state.done / state.total, 0.0, 1.0);
        line = fmt::format(" {}  {} of {}, {} elapsed", bar(share),
                           amount(share * state.total, state.unit), amount(state.total, state.unit),
                           clock_text(state.elapsed_s));
        // The first moments say nothing about the speed.
        const bool knows_speed = share > 0 && state.elapsed_s >= 1;
        if (knows_speed) {
            line += fmt::format(", {} left", clock_text(state.elapsed_s * (1 - share) / share));
        }
    } else {
        line = fmt::format("  {}, {} elapsed", amount(state.done, state.unit),
                           clock_text(state.elapsed_s));
    }
    const int n_label = std::min(30, n_columns - static_cast<int>(line.size()));
    return fit(fit(printable(state.label), n_label) + line, n_columns);
}

void Progress::start(const std::string& label, Unit unit) {
    clear();
    state_ = {.label = label, .unit = unit};
    started_ = Clock::now();
    drawn_ = {};
}

void Progress::update(double done, double total) {
    if (kind_ == Kind::none) return;
    const auto now = Clock::now();
    const auto pause = std::chrono::milliseconds(kind_ == Kind::bar ? 100 : 2000);
    if (now - drawn_ < pause) return;
    drawn_ = now;
    state_.done = done;
    state_.total = total;
    state_.elapsed_s = std::chrono::duration<double>(now - started_).count();
    visible_ = kind_ == Kind::bar;
    if (visible_) {
        // \033[K clears what a longer line left behind.
        write_stderr("\r" + progress_line(state_, stderr_columns() - 1) + "\033[K");
    } else {
        write_stderr(progress_line(state_, 120) + "\n");
    }
}

void Progress::clear() {
    if (!visible_) return;
    write_stderr("\r\033[K");
    visible_ = false;
    drawn_ = {};
}

}  // namespace transcribe::cli
