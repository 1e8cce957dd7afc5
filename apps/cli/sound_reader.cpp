#include "cli/sound_reader.h"

#include <algorithm>

namespace transcribe::cli {

SoundReader::SoundReader(LiveSound& sound, size_t n_samples_max)
    : sound_(sound), n_samples_max_(n_samples_max), thread_([this] { run(); }) {}

SoundReader::~SoundReader() {
    {
        const std::lock_guard lock(mutex_);
        stopped_ = true;
    }
    changed_.notify_all();
    sound_.stop();
    thread_.join();
}

void SoundReader::run() {
    std::vector<float> block;
    for (bool goes_on = true; goes_on;) {
        block.clear();
        const auto read = sound_.read(block);
        std::unique_lock lock(mutex_);
        ready_.insert(ready_.end(), block.begin(), block.end());
        if (!read) status_ = read.error();
        ended_ = !read || !*read;
        changed_.notify_all();
        changed_.wait(lock, [this] { return stopped_ || ready_.size() < n_samples_max_; });
        goes_on = !ended_ && !stopped_;
    }
}

Expected<bool> SoundReader::take(std::vector<float>& out, size_t n_max) {
    std::unique_lock lock(mutex_);
    const auto moment = std::chrono::milliseconds(50);
    changed_.wait_for(lock, moment, [this] { return ended_ || !ready_.empty(); });
    const size_t n = std::min(n_max, ready_.size());
    out.assign(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(n));
    ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(n));
    changed_.notify_all();
    if (n == 0 && ended_ && !status_) return status_.error();
    return n > 0 || !ended_;
}

}  // namespace transcribe::cli
