// A recording as the engine sees it: 16 kHz mono samples in [-1, 1], read forward, rewound at will.
// Where they come from (a file, a pipe, a caller's array) is not the engine's business.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/error.h"

namespace transcribe {

using i64 = std::int64_t;

constexpr int sample_rate = 16000;

class AudioSource {
  public:
    virtual ~AudioSource() = default;
    // Fills `out` from its start; fewer samples than asked mean the end. Errors: bad_audio, io.
    virtual Expected<size_t> read(std::span<float> out) = 0;
    // Goes back to the first sample. Errors: bad_audio, io.
    virtual Status rewind() = 0;
};

// Samples that somebody else owns.
class MemorySource : public AudioSource {
  public:
    explicit MemorySource(std::span<const float> samples) : samples_(samples) {}
    Expected<size_t> read(std::span<float> out) override {
        size_t n = std::min(out.size(), samples_.size() - at_);
        std::copy_n(samples_.begin() + at_, n, out.begin());
        at_ += n;
        return n;
    }
    Status rewind() override {
        at_ = 0;
        return {};
    }

  private:
    std::span<const float> samples_;
    size_t at_ = 0;
};

}  // namespace transcribe
