#include "cli/tally.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace transcribe::cli {

void Tally::skip(size_t input) {
    parts_[input].left_out = true;
    n_skipped_++;
}

void Tally::done(size_t input) {
    parts_[input].done_s = parts_[input].total_s;
    n_done_++;
}

void Tally::fail(size_t input, const std::string& name, ExitCode code) {
    parts_[input].left_out = true;
    failed_.push_back(name);
    faults_.insert(code);
}

double Tally::done_s() const {
    double sum = 0;
    for (const Part& part : parts_) sum += part.left_out ? 0 : part.done_s;
    return sum;
}

double Tally::total_s() const {
    double sum = 0;
    for (const Part& part : parts_) {
        if (part.left_out) continue;
        if (part.total_s <= 0) return 0;
        sum += part.total_s;
    }
    return sum;
}

ExitCode Tally::code() const {
    if (faults_.empty()) return exit_done;
    const bool alike = faults_.size() == 1 && n_done_ + n_skipped_ == 0;
    return alike ? *faults_.begin() : exit_some_failed;
}

std::string Tally::failures() const {
    constexpr size_t n_shown_max = 20;
    if (failed_.empty() || parts_.size() < 2) return {};
    std::string names;
    for (size_t i = 0; i < std::min(failed_.size(), n_shown_max); i++) {
        names += (i ? ", " : "") + printable(failed_[i]);
    }
    if (failed_.size() > n_shown_max) {
        names += fmt::format(" and {} more", failed_.size() - n_shown_max);
    }
    return fmt::format("{} of {} inputs failed: {}", failed_.size(), parts_.size(), names);
}

std::string Tally::skips() const {
    if (n_skipped_ == 0) return {};
    return fmt::format("{} of {} inputs skipped: their files exist", n_skipped_, parts_.size());
}

}  // namespace transcribe::cli
