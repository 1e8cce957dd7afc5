#include "decode/speech_regions.h"

#include <algorithm>

namespace transcribe {

namespace {

// Speech goes on until it is this much less likely than what began it.
constexpr float hysteresis = 0.15f;
constexpr float threshold_min = 0.01f;
// A region that grows too long is cut at its longest pause of more than this.
constexpr i64 cut_pause_ms = 98;

class RegionFinder {
  public:
    RegionFinder(const VadOptions& options, i64 chunk_ms)
        : o_(options),
          neg_threshold_(std::max(options.threshold - hysteresis, threshold_min)),
          length_max_ms_(static_cast<double>(options.max_speech_s) * 1000 -
                         static_cast<double>(chunk_ms + 2 * options.speech_pad_ms)),
          is_limited_(options.max_speech_s > 0) {}

    void chunk(i64 t_ms, float p) {
        bool speaks = p >= o_.threshold;
        if (speaks && pause_ms_ >= 0) end_pause(t_ms);
        if (!speaking_) {
            if (speaks) begin(t_ms);
            return;
        }
        bool too_long = is_limited_ && static_cast<double>(t_ms - start_ms_) > length_max_ms_;
        if (too_long && !cut(t_ms)) return;
        if (p < neg_threshold_) quiet(t_ms);
    }

    std::vector<TimeSpan> finish(i64 duration_ms) {
        if (speaking_ && duration_ms - start_ms_ > o_.min_speech_ms) close(duration_ms);
        pad(duration_ms);
        return std::move(regions_);
    }

  private:
    void begin(i64 t_ms) {
        speaking_ = true;
        start_ms_ = t_ms;
        pause_ms_ = -1;
        longest_pause_ = {};
    }

    void close(i64 t_ms) {
        regions_.push_back({start_ms_, t_ms});
        speaking_ = false;
        pause_ms_ = -1;
    }

    // Speech is back before the pause was long enough to end the region.
    void end_pause(i64 t_ms) {
        i64 ms = t_ms - pause_ms_;
        bool longest = ms > longest_pause_.t1_ms - longest_pause_.t0_ms;
        if (ms > cut_pause_ms && longest) longest_pause_ = {pause_ms_, t_ms};
        pause_ms_ = -1;
    }

    // The region is too long: it ends before its longest pause and begins again behind it, or,
    // where it has none, ends here. Does it go on?
    bool cut(i64 t_ms) {
        TimeSpan pause = longest_pause_;
        if (pause.t1_ms == 0) {
            close(t_ms);
            return false;
        }
        close(pause.t0_ms);
        begin(pause.t1_ms);
        return true;
    }

    void quiet(i64 t_ms) {
        if (pause_ms_ < 0) pause_ms_ = t_ms;
        if (t_ms - pause_ms_ < o_.min_silence_ms) return;
        if (pause_ms_ - start_ms_ > o_.min_speech_ms) {
            close(pause_ms_);
        } else {
            speaking_ = false;
            pause_ms_ = -1;
        }
    }

    // Regions that padding would let overlap share the pause between them.
    void pad(i64 duration_ms) {
        if (regions_.empty()) return;
        const i64 most = o_.speech_pad_ms;
        regions_.front().t0_ms = std::max<i64>(0, regions_.front().t0_ms - most);
        for (size_t i = 0; i + 1 < regions_.size(); i++) {
            i64 pause = regions_[i + 1].t0_ms - regions_[i].t1_ms;
            i64 ms = std::min(most, pause / 2);
            regions_[i].t1_ms += ms;
            regions_[i + 1].t0_ms -= ms;
        }
        regions_.back().t1_ms = std::min(duration_ms, regions_.back().t1_ms + most);
    }

    const VadOptions& o_;
    const float neg_threshold_;
    const double length_max_ms_;  // before padding
    const bool is_limited_;
    std::vector<TimeSpan> regions_;
    bool speaking_ = false;
    i64 start_ms_ = 0;
    i64 pause_ms_ = -1;  // when it fell quiet; -1: it did not
    TimeSpan longest_pause_;
};

}  // namespace

std::vector<TimeSpan> speech_regions(const SpeechTrack& track, const VadOptions& options) {
    RegionFinder finder(options, track.chunk_ms);
    i64 t_ms = 0;
    for (float p : track.probabilities) {
        finder.chunk(t_ms, p);
        t_ms += track.chunk_ms;
    }
    return finder.finish(track.duration_ms());
}

}  // namespace transcribe
