// Opening, and the copy of what cannot seek.
#include "audio/file_input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.h"

namespace transcribe {
namespace {

constexpr i64 n_copied_max = i64(16) << 30;

std::string reason(int error) {
    return std::generic_category().message(error);
}

class Fd {
  public:
    explicit Fd(int fd) : fd_(fd) {}
    Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Fd& operator=(Fd&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Fd() {
        if (fd_ >= 0) close(fd_);
    }
    int get() const { return fd_; }
    int release() { return std::exchange(fd_, -1); }

  private:
    int fd_;
};

Expected<Fd> open_path(const std::string& path) {
    const std::string name = input_name(path);
    Fd fd(path == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                      : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd.get() >= 0) return fd;
    if (errno == ENOENT) return Error{Code::not_found, name + ": there is no such file"};
    return Error{Code::io, fmt::format("{}: cannot be opened: {}", name, reason(errno))};
}

Expected<Fd> unlinked_file() {
    std::error_code error;
    std::filesystem::path folder = std::filesystem::temp_directory_path(error);
    if (error) folder = "/tmp";
    std::string path = (folder / "transcribe-XXXXXX").string();
    Fd fd(mkostemp(path.data(), O_CLOEXEC));
    if (fd.get() < 0) {
        return Error{Code::io,
                     fmt::format("cannot make a temporary file in {}: {}; set TMPDIR to a "
                                 "folder that can be written",
                                 folder.string(), reason(errno))};
    }
    unlink(path.c_str());
    return fd;
}

bool write_all(int fd, const char* bytes, ssize_t n) {
    while (n > 0) {
        const ssize_t done = write(fd, bytes, size_t(n));
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return false;
        bytes += done;
        n -= done;
    }
    return true;
}

ssize_t read_some(int fd, char* bytes, size_t n) {
    for (;;) {
        const ssize_t got = ::read(fd, bytes, n);
        if (got >= 0 || errno != EINTR) return got;
    }
}

Expected<Fd> copied(const Fd& from, const std::string& name) {
    TRY_SET(Fd to, unlinked_file());
    std::vector<char> block(1 << 18);
    for (i64 n_copied = 0;;) {
        const ssize_t got = read_some(from.get(), block.data(), block.size());
        if (got == 0) return to;
        if (got < 0) {
            return Error{Code::io, fmt::format("{}: cannot be read: {}", name, reason(errno))};
        }
        n_copied += got;
        if (n_copied > n_copied_max) {
            return Error{Code::io, fmt::format("{}: more than {} GiB; give a file instead", name,
                                               n_copied_max >> 30)};
        }
        if (!write_all(to.get(), block.data(), got)) {
            return Error{Code::io, fmt::format("{}: cannot be copied to a temporary file: {}; set "
                                               "TMPDIR to a folder with room",
                                               name, reason(errno))};
        }
    }
}

// An open file that is no folder, and what it is.
Expected<Fd> open_bytes(const std::string& path, struct stat& info) {
    const std::string name = input_name(path);
    TRY_SET(Fd fd, open_path(path));
    if (fstat(fd.get(), &info) != 0) {
        return Error{Code::io, fmt::format("{}: cannot be read: {}", name, reason(errno))};
    }
    if (S_ISDIR(info.st_mode)) {
        return Error{Code::bad_audio, name + ": is a folder, not a recording"};
    }
    return fd;
}

}  // namespace

std::string input_name(const std::string& path) {
    return path == "-" ? "standard input" : printable(path, 4096);
}

Expected<std::unique_ptr<FileInput>> FileInput::open(const std::string& path) {
    struct stat info {};
    TRY_SET(Fd fd, open_bytes(path, info));
    // Standard input may be a file of which something was read already: that is a stream, too.
    if (!S_ISREG(info.st_mode) || lseek(fd.get(), 0, SEEK_CUR) != 0) {
        TRY_SET(fd, copied(fd, input_name(path)));
    }
    return std::make_unique<FileInput>(fd.release());
}

FileInput::~FileInput() {
    close(fd_);
}

int FileInput::read(std::uint8_t* out, int n_bytes) {
    for (;;) {
        const ssize_t got = pread(fd_, out, size_t(n_bytes), position);
        if (got < 0 && errno == EINTR) continue;
        if (got > 0) position += got;
        return int(got);
    }
}

i64 FileInput::size_bytes() const {
    struct stat info {};
    return fstat(fd_, &info) == 0 ? i64(info.st_size) : 0;
}

Expected<std::unique_ptr<PipeInput>> PipeInput::open(const std::string& path) {
    struct stat info {};
    TRY_SET(Fd fd, open_bytes(path, info));
    return std::make_unique<PipeInput>(fd.release());
}

PipeInput::~PipeInput() {
    close(fd_);
}

int PipeInput::read(std::uint8_t* out, int n_bytes) {
    constexpr int wait_ms = 100;
    while (!stopped_) {
        pollfd waited{fd_, POLLIN, 0};
        const int n_ready = poll(&waited, 1, wait_ms);
        if (n_ready < 0 && errno != EINTR) return -1;
        if (n_ready > 0) {
            return static_cast<int>(
                read_some(fd_, reinterpret_cast<char*>(out), static_cast<size_t>(n_bytes)));
        }
    }
    return 0;
}

}  // namespace transcribe
