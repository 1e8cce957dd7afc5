// Sound that comes while the model computes: a thread of its own keeps reading, so that a
// microphone loses nothing, and waits when too much has gathered, so that a pipe from a file does
// not fill the memory.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "audio/live.h"

namespace transcribe::cli {

class SoundReader {
  public:
    explicit SoundReader(LiveSound& sound, size_t n_samples_max);
    ~SoundReader();  // stops the sound
    SoundReader(const SoundReader&) = delete;
    SoundReader& operator=(const SoundReader&) = delete;

    // Moves up to `n_max` of the samples that came to `out`, and waits a moment when there are
    // none. False: the sound has ended, and all of it was taken. Errors: those of LiveSound::read.
    Expected<bool> take(std::vector<float>& out, size_t n_max);

  private:
    void run();

    LiveSound& sound_;
    const size_t n_samples_max_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<float> ready_;
    Status status_;
    bool ended_ = false, stopped_ = false;
    std::thread thread_;  // the last: it uses the others
};

}  // namespace transcribe::cli
