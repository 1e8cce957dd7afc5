#include "families/whisper/word_seek.h"

#include <algorithm>
#include <cmath>

namespace transcribe::whisper {

namespace {

constexpr double frames_per_s = 100;
constexpr std::string_view punctuation =
    "\"'\u201c\u00bf([{-\"'.\u3002,\uff0c!\uff01?\uff1f:\uff1a\u201d)]}\u3001";
constexpr double near_edge_s = 2;  // of a window: as good as silence

using Segments = std::span<const TimedSegment>;

i64 frames_of(double s) {
    return static_cast<i64>(std::nearbyint(s * frames_per_s));
}

double seconds_of(i64 frames) {
    return static_cast<double>(frames) / frames_per_s;
}

// Invented words are improbable, very short or very long.
double strangeness(const TimedWord& word) {
    constexpr double probability_min = 0.15, length_min_s = 0.133, length_max_s = 2;
    double length_s = word.t1_s - word.t0_s, score = word.probability < probability_min ? 1 : 0;
    if (length_s < length_min_s) score += (length_min_s - length_s) * 15;
    if (length_s > length_max_s) score += length_s - length_max_s;
    return score;
}

bool is_strange(const TimedSegment* segment) {
    constexpr int n_words_max = 8;
    if (!segment || segment->words.empty()) return false;
    double score = 0;
    int n = 0;
    for (const TimedWord& word : segment->words) {
        if (punctuation.find(word.text) != std::string_view::npos) continue;
        score += strangeness(word);
        if (++n == n_words_max) break;
    }
    return score >= 3 || score + 0.01 >= n;
}

const TimedSegment* first_with_words(Segments segments) {
    for (const TimedSegment& segment : segments) {
        if (!segment.words.empty()) return &segment;
    }
    return nullptr;
}

class Judge {
  public:
    Judge(Segments segments, const WordWindow& at)
        : segments_(segments), at_(at), t0_s_(seconds_of(at.window.seek_frames)) {}

    AfterWords decide() {
        AfterWords after{at_.seek_after_frames, segments_.size()};
        std::optional<double> end = end_of_speech(segments_);
        bool goes_on = !at_.ends_in_single_timestamp && end && *end > t0_s_;
        if (goes_on) after.seek_frames = frames_of(*end);
        if (at_.silence_s <= 0) return after;
        bool silent_to_the_end = goes_on && window_end_s() - *end <= at_.silence_s;
        if (silent_to_the_end) after.seek_frames = at_.window.seek_frames + at_.window.n_frames;
        if (const TimedSegment* first = first_with_words(segments_); is_strange(first)) {
            double gap_s = first->t0_s - t0_s_;
            if (gap_s > at_.silence_s) return {at_.window.seek_frames + frames_of(gap_s), 0};
        }
        drop_islands(after);
        return after;
    }

  private:
    // Where the window would end if the recording went on.
    double window_end_s() const {
        return seconds_of(at_.window.seek_frames + at_.window_max_frames);
    }

    // From strange text with silence, the edge of the window or more strange text on both sides, on
    // all is dropped and decoded again from there.
    void drop_islands(AfterWords& after) const {
        double last_end_s = at_.last_speech_s;
        for (size_t i = 0; i < segments_.size(); i++) {
            const TimedSegment& segment = segments_[i];
            if (segment.words.empty()) continue;
            if (is_strange(&segment) && silent_before(segment, last_end_s) && silent_after(i)) {
                double from_s = std::max(t0_s_ + 1, segment.t0_s);
                bool at_end = seconds_of(at_.recording_frames) - segment.t1_s < at_.silence_s;
                after = {at_end ? at_.recording_frames : frames_of(from_s), i};
                return;
            }
            last_end_s = segment.t1_s;
        }
    }

    bool silent_before(const TimedSegment& segment, double last_end_s) const {
        return segment.t0_s - last_end_s > at_.silence_s || segment.t0_s < at_.silence_s ||
               segment.t0_s - t0_s_ < near_edge_s;
    }

    bool silent_after(size_t i) const {
        const TimedSegment& segment = segments_[i];
        const TimedSegment* next = first_with_words(segments_.subspan(i + 1));
        double next_s = next ? next->words[0].t0_s : t0_s_ + seconds_of(at_.window.n_frames);
        return next_s - segment.t1_s > at_.silence_s || is_strange(next) ||
               window_end_s() - segment.t1_s < near_edge_s;
    }

    Segments segments_;
    const WordWindow& at_;
    double t0_s_;
};

}  // namespace

std::optional<double> end_of_speech(Segments segments) {
    for (size_t i = segments.size(); i-- > 0;) {
        if (!segments[i].words.empty()) return segments[i].words.back().t1_s;
    }
    if (segments.empty()) return std::nullopt;
    return segments.back().t1_s;
}

AfterWords after_words(Segments segments, const WordWindow& at) {
    return Judge(segments, at).decide();
}

}  // namespace transcribe::whisper
