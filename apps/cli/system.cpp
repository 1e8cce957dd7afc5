#include "cli/system.h"

#include <cstdio>

#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#include <windows.h>
// After windows.h:
#include <psapi.h>
#else
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#endif

namespace transcribe::cli {

void write_stderr(std::string_view text) {
    const size_t ignored = std::fwrite(text.data(), 1, text.size(), stderr);
    static_cast<void>(ignored);
    std::fflush(stderr);
}

#ifdef _WIN32

namespace {

int columns_of(DWORD handle) {
    CONSOLE_SCREEN_BUFFER_INFO info;
    if (!GetConsoleScreenBufferInfo(GetStdHandle(handle), &info)) return 80;
    return info.srWindow.Right - info.srWindow.Left + 1;
}

}  // namespace

bool stderr_is_terminal() {
    return _isatty(_fileno(stderr)) != 0;
}

bool stdout_is_terminal() {
    return _isatty(_fileno(stdout)) != 0;
}

int stderr_columns() {
    return columns_of(STD_ERROR_HANDLE);
}

int stdout_columns() {
    return columns_of(STD_OUTPUT_HANDLE);
}

std::int64_t peak_memory_bytes() {
    PROCESS_MEMORY_COUNTERS counters;
    if (!GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters)) return 0;
    return static_cast<std::int64_t>(counters.PeakWorkingSetSize);
}

void ignore_broken_pipe() {}

void prepare_streams() {
    _setmode(_fileno(stdin), _O_BINARY);
    _setmode(_fileno(stdout), _O_BINARY);
}

#else

namespace {

int columns_of(int fd) {
    winsize size{};
    const bool known = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : 80;
}

}  // namespace

bool stderr_is_terminal() {
    return isatty(STDERR_FILENO) == 1;
}

bool stdout_is_terminal() {
    return isatty(STDOUT_FILENO) == 1;
}

int stderr_columns() {
    return columns_of(STDERR_FILENO);
}

int stdout_columns() {
    return columns_of(STDOUT_FILENO);
}

std::int64_t peak_memory_bytes() {
    rusage usage{};
    if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
#ifdef __APPLE__
    return usage.ru_maxrss;
#else
    return std::int64_t{usage.ru_maxrss} * 1024;
#endif
}

void ignore_broken_pipe() {
    std::signal(SIGPIPE, SIG_IGN);
}

void prepare_streams() {
    // The lowest free number is given out: 0, 1, 2 are taken when a higher one comes back.
    int taken = 0;
    while (taken >= 0 && taken <= STDERR_FILENO) taken = open("/dev/null", O_RDONLY);
    if (taken >= 0) close(taken);
}

#endif

}  // namespace transcribe::cli
