// Bytes of files and pipes; the only part of this layer that calls the
// operating system (POSIX).
//
// What cannot seek (a pipe, a terminal) is copied to an unlinked temporary file first: some
// containers keep their index at the end. The copy is bounded, and it is gone when the program
// ends, however.
#pragma once

#include <atomic>
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

// Bytes as they come, read once: of a pipe, a terminal, or a file.
class PipeInput {
  public:
    // Errors: as of FileInput.
    static Expected<std::unique_ptr<PipeInput>> open(const std::string& path);
    explicit PipeInput(int fd) : fd_(fd) {}  // closed at the end
    ~PipeInput();
    PipeInput(const PipeInput&) = delete;
    PipeInput& operator=(const PipeInput&) = delete;

    // Waits for at least one byte; 0 is the end, also after stop(), -1 a fault.
    int read(std::uint8_t* out, int n_bytes);
    // Ends the waiting, from any thread.
    void stop() { stopped_ = true; }

  private:
    int fd_;
    std::atomic<bool> stopped_ = false;
};

// How messages call a path: printable, and "standard input" for "-".
std::string input_name(const std::string& path);

}  // namespace transcribe
