// A file mapped into memory, to be read: pages are read when they are touched and shared with every
// other process that maps the same file. All that depends on the operating system stands in the
// .cpp.
//
// What bites: a file that another program cuts while it is mapped ends this process with SIGBUS. So
// sizes are checked when a file is opened, and files are replaced by rename, never written in
// place.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"

namespace transcribe {

// Paths are UTF-8 everywhere in this program; Windows' own are UTF-16.
std::filesystem::path native_path(const std::string& path);

class MappedFile {
  public:
    // Errors: not_found, io (no permission, a directory, a device).
    static Expected<MappedFile> open(const std::string& path);
    // What was a file once, in memory of its own. Errors: out_of_memory.
    static Expected<MappedFile> copy(std::span<const std::byte> bytes);

    MappedFile() = default;
    MappedFile(MappedFile&& other) noexcept
        : bytes_(std::exchange(other.bytes_, {})), is_copy_(other.is_copy_) {}
    MappedFile& operator=(MappedFile&& other) noexcept {
        std::swap(bytes_, other.bytes_);
        std::swap(is_copy_, other.is_copy_);
        return *this;
    }
    ~MappedFile();

    std::span<const std::byte> bytes() const { return bytes_; }
    // Takes the pages of `part` out of this process's memory, where the system can; they are read
    // again when they are touched. Nothing happens where `part` is not of this file, or this is a
    // copy.
    void release(std::span<const std::byte> part) const;

  private:
    std::span<const std::byte> bytes_;
    bool is_copy_ = false;
};

}  // namespace transcribe
