#include "engine/speech.h"

#include <algorithm>

#include "base/trace.h"
#include "tensor/compute.h"

namespace transcribe {

namespace {

constexpr i64 samples_per_ms = sample_rate / 1000;

}  // namespace

Listener::Listener(std::shared_ptr<const VoiceDetector> detector)
    : detector_(std::move(detector)) {}

Listener::~Listener() = default;

Expected<std::unique_ptr<Listener>> Listener::make(std::shared_ptr<const VoiceDetector> detector) {
    auto listener = std::make_unique<Listener>(std::move(detector));
    TRY_SET(auto lanes, Lanes::make(1, 1));
    TRY_SET(listener->compute_, Compute::make(Device::cpu(), std::move(lanes)));
    return listener;
}

Expected<SpeechTrack> Listener::track(AudioSource& audio) {
    Span span("voice detection");
    Compute::Lease lease(*compute_);
    return detector_->listen(audio, *compute_);
}

std::atomic<bool>& Listener::cancelled() {
    return compute_->cancelled();
}

Expected<bool> SpeechSource::skip_to(i64 sample) {
    std::vector<float> skipped(static_cast<size_t>(std::clamp<i64>(sample - at_, 0, 1 << 16)));
    while (at_ < sample) {
        size_t n_wanted = std::min(skipped.size(), static_cast<size_t>(sample - at_));
        TRY_SET(size_t n_read, whole_.read({skipped.data(), n_wanted}));
        at_ += static_cast<i64>(n_read);
        if (n_read < n_wanted) return false;
    }
    return true;
}

Expected<size_t> SpeechSource::read(std::span<float> out) {
    size_t n = 0;
    while (n < out.size() && part_ < parts_.size()) {
        TRY_SET(bool reached, skip_to(parts_[part_].t0_ms * samples_per_ms));
        i64 n_left = parts_[part_].t1_ms * samples_per_ms - at_;
        size_t n_wanted = std::min(out.size() - n, static_cast<size_t>(std::max<i64>(n_left, 0)));
        size_t n_read = 0;
        if (reached) {
            TRY_SET(n_read, whole_.read(out.subspan(n, n_wanted)));
        }
        n += n_read;
        at_ += static_cast<i64>(n_read);
        if (!reached || n_read < n_wanted) {
            part_ = parts_.size();  // the recording has ended
        } else if (static_cast<i64>(n_wanted) == n_left) {
            part_++;
        }
    }
    return n;
}

Status SpeechSource::rewind() {
    part_ = 0;
    at_ = 0;
    return whole_.rewind();
}

}  // namespace transcribe
