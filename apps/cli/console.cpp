#include "cli/console.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/text.h"
#include "cli/system.h"

namespace transcribe::cli {

namespace {

constexpr size_t n_shown_max = 4096;  // bytes of a name or a sentence

// Readers of audio begin their sentences with the name themselves.
std::string prefix(const std::string& file, const std::string& sentence) {
    const std::string name = file == "-" ? "standard input" : printable(file, n_shown_max);
    return file.empty() || sentence.starts_with(name) ? "" : name + ": ";
}

// Sentences may hold what a file says of itself; one line each, whatever that is.
std::string one_line(const std::string& sentence) {
    return printable(sentence, n_shown_max);
}

}  // namespace

void Console::say(const std::string& line) {
    progress_.clear();
    write_stderr(line + "\n");
}

void Console::result(std::string_view bytes) {
    if (broken_ || bytes.empty()) return;
    progress_.clear();
    errno = 0;
    const bool written = std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size();
    if (written && std::fflush(stdout) == 0) return;
    broken_ = true;
    if (errno == EPIPE) {
        broken_code_ = exit_closed_pipe;
    } else {
        error("", fmt::format("cannot write to standard output: {}", std::strerror(errno)));
    }
}

void Console::note(const std::string& line) {
    if (talk_ != Talk::quiet) say(one_line(line));
}

void Console::detail(const std::string& line) {
    if (talk_ == Talk::verbose) say(one_line(line));
}

void Console::warning(const std::string& file, const std::string& sentence) {
    say(fmt::format("transcribe: warning: {}{}", prefix(file, sentence), one_line(sentence)));
}

void Console::error(const std::string& file, const std::string& sentence) {
    say(fmt::format("transcribe: {}{}", prefix(file, sentence), one_line(sentence)));
}

ExitCode fail(Console& console, const Error& error, ExitCode of_subject) {
    console.error("", error.what);
    return exit_code(error, of_subject);
}

}  // namespace transcribe::cli
