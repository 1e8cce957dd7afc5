#include "families/whisper/ladder.h"

#include <algorithm>

namespace transcribe::whisper {

// From the first temperature by the increment up to 1.
Ladder::Ladder(const Options& options) : options_(options), temperatures_{options.temperature} {
    if (options.temperature_increment <= 0) return;
    for (int i = 1;; i++) {
        float t = options.temperature + static_cast<float>(i) * options.temperature_increment;
        if (t > 1.0f + 1e-6f) return;
        temperatures_.push_back(t);
    }
}

std::optional<float> Ladder::next() const {
    bool enough = !tries_.empty() && (good(tries_.back()) || silent());
    if (enough || tries_.size() == temperatures_.size()) return {};
    return temperatures_[tries_.size()];
}

void Ladder::add(WindowText text) {
    tries_.push_back(std::move(text));
}

bool Ladder::silent() const {
    const WindowText& first = tries_.front();
    return first.no_speech_prob > options_.no_speech_threshold && improbable(first);
}

const WindowText& Ladder::best() const {
    if (good(tries_.back())) return tries_.back();
    return *std::max_element(tries_.begin(), tries_.end(),
                             [&](const WindowText& a, const WindowText& b) {
                                 if (repetitive(a) != repetitive(b)) return repetitive(a);
                                 return a.avg_logprob < b.avg_logprob;
                             });
}

}  // namespace transcribe::whisper
