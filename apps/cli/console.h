// All that the command says: results on standard output, everything else on standard error, and the
// progress line, which makes room for both.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "cli/exit_code.h"
#include "cli/progress.h"

namespace transcribe::cli {

class Console {
  public:
    enum class Talk { quiet, normal, verbose };
    explicit Console(Talk talk, Progress::Kind progress = Progress::Kind::none)
        : talk_(talk), progress_(progress) {}

    void result(std::string_view bytes);   // as it is, at once
    void note(const std::string& line);    // not with -q
    void detail(const std::string& line);  // with -v
    // `file` is shown harmlessly in front, unless it is empty or the sentence begins with it.
    void warning(const std::string& file, const std::string& sentence);
    void error(const std::string& file, const std::string& sentence);
    Progress& progress() { return progress_; }

    // A write of results failed: nobody reads them, or the disk is full. The fault is reported
    // once.
    bool broken() const { return broken_; }
    ExitCode broken_code() const { return broken_code_; }

  private:
    void say(const std::string& line);

    Talk talk_;
    Progress progress_;
    bool broken_ = false;
    ExitCode broken_code_ = exit_some_failed;
};

// Reports what ended a command; gives the exit code (`of_subject`: see exit_code()).
ExitCode fail(Console& console, const Error& error, ExitCode of_subject);

}  // namespace transcribe::cli
