// What the hub needs of the operating system, and the only place of it: a child process, a lock
// between processes. A port to another system is another os_*.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"

namespace transcribe {

struct ProcessResult {
    int exit_code = -1;  // 128 + n when signal n ended it
    std::string output;  // the end of standard output and error together, at most 8 kB
};

// Runs a program found on PATH and waits for it. No shell sees the arguments. Standard input is
// empty. Errors: not_found (no such program), internal.
Expected<ProcessResult> run_process(const std::vector<std::string>& argv);

// Held by one process at a time; let go when destroyed or when the process ends, however it ends.
class FileLock {
  public:
    virtual ~FileLock() = default;
    // Waits for whoever has it. The file is created and stays. Errors: io.
    static Expected<std::unique_ptr<FileLock>> take(const std::string& path);
};

// The folder for files that can be made again: $XDG_CACHE_HOME, ~/.cache, or what the system has.
// Errors: not_found, when nothing says where the user's home is.
Expected<std::string> user_cache_dir();

}  // namespace transcribe
