// The SHA-256 of bytes and files, by FFmpeg's libavutil.
#pragma once

#include <span>
#include <string>

#include "base/error.h"

struct AVSHA;

namespace transcribe {

class Sha256 {
  public:
    Sha256();
    Sha256(const Sha256&) = delete;
    Sha256& operator=(const Sha256&) = delete;
    ~Sha256();
    void add(std::span<const char> bytes);
    std::string hex();  // 64 lower-case digits; ends the sum

  private:
    AVSHA* sha_;
};

// Errors: io (cannot be read).
Expected<std::string> sha256_of_file(const std::string& path);

}  // namespace transcribe
