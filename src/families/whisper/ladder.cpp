#include "families/whisper/ladder.h"

#include <algorithm>

namespace transcribe::whisper {

namespace {

// What remains of a recording may be shorter than any word; of it a text is believed only if it is
// good and the model hears speech.
constexpr double short_s = 1;

}  // namespace

// From the first temperature by the increment up to 1.
Ladder::Ladder(const Options& options, double window_s)
    : options_(options), window_s_(window_s), temperatures_{options.temperature} {
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
    const float no_speech = first.no_speech_prob, threshold = options_.no_speech_threshold;
    if (no_speech > threshold && improbable(first)) return true;
    if (temperatures_.size() == 1) return false;
    if (first.looping && no_speech > (1 + threshold) / 2) return true;
    if (first.overruns && no_speech > threshold / 2) return true;
    if (window_s_ >= short_s) return false;
    return no_speech > threshold || (tries_.size() == temperatures_.size() && !good(tries_.back()));
}

const WindowText& Ladder::best() const {
    return good(tries_.back()) ? tries_.back() : best_of(tries_);
}

// How good a text is among bad ones: its probability, less the more it repeats itself. A chorus
// repeats itself a little more than is allowed, and is still better than a text out of thin air.
float Ladder::worth(const WindowText& text) const {
    const float repeats = text.compression_ratio / options_.compression_ratio_threshold;
    return text.avg_logprob - (repetitive(text) ? repeats : 0);
}

const WindowText& Ladder::best_of(const std::vector<WindowText>& texts) const {
    return *std::max_element(texts.begin(), texts.end(),
                             [&](const WindowText& a, const WindowText& b) {
                                 if (a.looping != b.looping) return a.looping;
                                 return worth(a) < worth(b);
                             });
}

}  // namespace transcribe::whisper
