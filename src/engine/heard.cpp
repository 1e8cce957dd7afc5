#include "engine/heard.h"

#include <algorithm>
#include <cmath>

#include "decode/speech_regions.h"
#include "engine/pieces.h"

namespace transcribe {

namespace {

// Sound that is as likely as this, beside what is asked for, is kept where it touches speech: of
// somebody who mumbles between clear words nothing is lost.
constexpr float doubtful = 0.4f;

std::vector<TimeSpan> regions_of(const SpeechTrack& track, const VadOptions& options) {
    const auto certain = speech_regions(track, options);
    VadOptions lower = options;
    lower.threshold *= doubtful;
    std::vector<TimeSpan> regions = speech_regions(track, lower);
    std::erase_if(regions, [&certain](const TimeSpan& region) {
        return std::none_of(certain.begin(), certain.end(), [&region](const TimeSpan& speech) {
            return speech.t0_ms < region.t1_ms && region.t0_ms < speech.t1_ms;
        });
    });
    return regions;
}

}  // namespace

Status Heard::find_speech(Listener& listener, const Options& options) {
    TRY_SET(track_, listener.track(whole_));
    TRY(whole_.rewind());
    regions_ = regions_of(track_, *options.vad);
    auto kept = kept_parts(regions_, track_.duration_ms());
    if (!options.clips.empty()) kept = common_parts(kept, options.clips);
    timeline_.emplace(kept);
    speech_ = std::make_unique<SpeechSource>(whole_, std::move(kept));
    return {};
}

Status Heard::cut(i64 ms_max, i64 uncut_ms) {
    if (timeline_) {
        pieces_ = cut_pieces(*timeline_, regions_, track_, ms_max);
    } else {
        TRY_SET(pieces_, cut_pieces(whole_, ms_max));
        TRY(whole_.rewind());
    }
    const bool whole =
        pieces_.size() == 1 || (!pieces_.empty() && pieces_.back().t1_ms <= uncut_ms);
    if (whole) pieces_.clear();
    return {};
}

Recording Heard::recording() {
    if (speech_) return {speech_.get(), pieces_};
    return {&whole_, pieces_};
}

double Heard::duration_s() const {
    return static_cast<double>(track_.n_samples) / sample_rate;
}

double Heard::time_s(double heard_s) const {
    if (!timeline_) return heard_s;
    return static_cast<double>(timeline_->end_ms(std::llround(heard_s * 1000))) / 1000;
}

std::vector<Segment> Heard::restore(Segment segment, const Options& options) {
    if (!timeline_) return {std::move(segment)};
    std::vector<Segment> parts;
    if (options.timestamps || !segment.words.empty()) {
        parts = timeline_->restore(segment);
    } else {  // its times are those of a window, pauses and all
        segment.t0_ms = timeline_->start_ms(segment.t0_ms);
        segment.t1_ms = timeline_->end_ms(segment.t1_ms);
        parts.push_back(std::move(segment));
    }
    for (Segment& part : parts) part.id = n_segments_++;
    return parts;
}

void Heard::restore(Transcript& transcript, const Options& options) {
    if (!timeline_) return;
    transcript.duration_s = duration_s();
    n_segments_ = 0;
    std::vector<Segment> all;
    for (Segment& segment : transcript.segments) {
        for (Segment& part : restore(std::move(segment), options)) all.push_back(std::move(part));
    }
    transcript.segments = std::move(all);
}

}  // namespace transcribe
