#include "output/file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>

#include "base/text.h"

namespace transcribe {

namespace {

namespace fs = std::filesystem;

Error cannot_write(const std::string& path, const std::string& why) {
    return {Code::io, fmt::format("cannot write {}: {}", printable(path), why)};
}

// A short name of its own, so that the longest allowed name of the result needs no longer one.
fs::path temporary_beside(const fs::path& path) {
    std::random_device random;
    fs::path name = fmt::format(".transcribe-{:08x}{:08x}.tmp", random(), random());
    return path.parent_path() / name;
}

// 0, or the errno of the step that failed. "x": never writes through a link that somebody put
// there.
int write_new(const fs::path& path, std::string_view bytes) {
    errno = 0;
    std::FILE* file = std::fopen(path.string().c_str(), "wbx");
    if (!file) return errno;
    const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    const int write_errno = errno;
    const bool closed = std::fclose(file) == 0;
    if (!written) return write_errno ? write_errno : EIO;
    return closed ? 0 : errno;
}

}  // namespace

Status check_file_name(const std::string& path) {
    constexpr size_t n_bytes_max = 255;
    const size_t n_bytes = fs::path(path).filename().string().size();
    if (n_bytes <= n_bytes_max) return {};
    return cannot_write(path, fmt::format("the name has {} bytes, and file systems take at most {}",
                                          n_bytes, n_bytes_max));
}

Status write_file(const std::string& path, std::string_view bytes) {
    TRY(check_file_name(path));
    const fs::path temporary = temporary_beside(path);
    std::error_code failure;
    const int write_errno = write_new(temporary, bytes);
    if (write_errno == 0) fs::rename(temporary, path, failure);
    if (write_errno == 0 && !failure) return {};
    const std::string why = write_errno ? std::strerror(write_errno) : failure.message();
    std::error_code ignored;
    fs::remove(temporary, ignored);
    return cannot_write(path, why);
}

}  // namespace transcribe
