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

void Ladder::add(const std::vector<WindowText>& texts) {
    tries_.push_back(best_of(texts));
}

bool Ladder::silent() const {
    const WindowText& first = tries_.front();
    return first.no_speech_prob > options_.no_speech_threshold && improbable(first);
}

const WindowText& Ladder::best() const {
    return good(tries_.back()) ? tries_.back() : best_of(tries_);
}

const WindowText& Ladder::best_of(const std::vector<WindowText>& texts) const {
    return *std::max_element(texts.begin(), texts.end(),
                             [&](const WindowText& a, const WindowText& b) {
                                 if (repetitive(a) != repetitive(b)) return repetitive(a);
                                 return a.avg_logprob < b.avg_logprob;
                             });
}

}  // namespace transcribe::whisper
