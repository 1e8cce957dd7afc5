#ifndef _WIN32

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/env.h"
#include "hub/os.h"

extern char** environ;

namespace transcribe {

namespace {

class Fd {
  public:
    explicit Fd(int fd = -1) : fd_(fd) {}
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    ~Fd() { close(); }
    void close() {
        if (fd_ >= 0) ::close(fd_);
        fd_ = -1;
    }
    int get() const { return fd_; }

  private:
    int fd_;
};

// Where the child's streams go: nothing in, everything out into one pipe.
class ChildStreams {
  public:
    explicit ChildStreams(int out) {
        posix_spawn_file_actions_init(&actions_);
        posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions_, out, 1);
        posix_spawn_file_actions_adddup2(&actions_, out, 2);
    }
    ChildStreams(const ChildStreams&) = delete;
    ChildStreams& operator=(const ChildStreams&) = delete;
    ~ChildStreams() { posix_spawn_file_actions_destroy(&actions_); }
    const posix_spawn_file_actions_t* get() const { return &actions_; }

  private:
    posix_spawn_file_actions_t actions_{};
};

std::string read_tail(int fd) {
    constexpr size_t n_kept_max = 8192;
    std::string tail;
    std::array<char, 4096> block;
    for (;;) {
        ssize_t n = ::read(fd, block.data(), block.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return tail;
        tail.append(block.data(), static_cast<size_t>(n));
        if (tail.size() > n_kept_max) tail.erase(0, tail.size() - n_kept_max);
    }
}

int wait_for(pid_t pid) {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) return -1;
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

class FlockLock : public FileLock {
  public:
    explicit FlockLock(int fd) : fd_(fd) {}

  private:
    Fd fd_;  // closing it lets the lock go
};

}  // namespace

Expected<ProcessResult> run_process(const std::vector<std::string>& argv) {
    std::vector<char*> args;
    for (const std::string& arg : argv) args.push_back(const_cast<char*>(arg.c_str()));
    args.push_back(nullptr);

    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return Error{Code::internal, fmt::format("no pipe for {}: {}", argv[0], strerror(errno))};
    }
    Fd from(ends[0]), to(ends[1]);
    ChildStreams streams(to.get());
    pid_t pid = 0;
    int fault = ::posix_spawnp(&pid, args[0], streams.get(), nullptr, args.data(), environ);
    if (fault != 0) {
        return Error{fault == ENOENT ? Code::not_found : Code::internal,
                     fmt::format("cannot run {}: {}", argv[0], strerror(fault))};
    }
    to.close();  // else our own end would keep the pipe open
    ProcessResult result;
    result.output = read_tail(from.get());
    result.exit_code = wait_for(pid);
    return result;
}

Expected<std::unique_ptr<FileLock>> FileLock::take(const std::string& path) {
    int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) {
        return Error{Code::io, fmt::format("cannot make the lock {}: {}", path, strerror(errno))};
    }
    auto lock = std::make_unique<FlockLock>(fd);
    while (::flock(fd, LOCK_EX) != 0) {
        if (errno == EINTR) continue;
        return Error{Code::io, fmt::format("cannot lock {}: {}", path, strerror(errno))};
    }
    return std::unique_ptr<FileLock>(std::move(lock));
}

Expected<std::string> user_cache_dir() {
    if (auto cache = env(Var::xdg_cache_home)) return *cache;
    if (auto home = env(Var::home)) return *home + "/.cache";
    return Error{Code::not_found,
                 "neither XDG_CACHE_HOME nor HOME is set, so there is no place for models"};
}

}  // namespace transcribe

#endif
