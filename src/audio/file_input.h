// A file of bytes that can be read at any place; the only part of this layer that calls the
// operating system (POSIX).
//
// What cannot seek (a pipe, a terminal) is copied to an unlinked temporary file first: some
// containers keep their index at the end. The copy is bounded, and it is gone when the program
// ends, however.
#pragma once

#include <memory>
#include <string>

#include "base/audio_source.h"

namespace transcribe {

class FileInput {
  public:
    // A path (any bytes), or "-" for standard input. Errors: not_found, bad_audio (a directory),
    // io.
    static Expected<std::unique_ptr<FileInput>> open(const std::string& path);
    explicit FileInput(int fd) : fd_(fd) {}  // a regular file's; closed at the end
    ~FileInput();
    FileInput(const FileInput&) = delete;
    FileInput& operator=(const FileInput&) = delete;

    // Reads at the position and moves it; 0 is the end, -1 a fault of the disk.
    int read(std::uint8_t* out, int n_bytes);
    i64 size_bytes() const;
    i64 position = 0;

  private:
    int fd_;
};

// How messages call a path: printable, and "standard input" for "-".
std::string input_name(const std::string& path);

}  // namespace transcribe
