#include "engine/pieces.h"

#include <algorithm>
#include <array>
#include <deque>

#include "base/check.h"

namespace transcribe {

namespace {

// Where the speech may be cut without harm, in order: its joins, and the pauses that were kept.
std::vector<i64> cuts_of(const Timeline& timeline, std::span<const TimeSpan> regions) {
    std::vector<i64> cuts;
    for (size_t i = 1; i < regions.size(); i++) {
        i64 from_ms = timeline.heard_ms(regions[i - 1].t1_ms);
        cuts.push_back((from_ms + timeline.heard_ms(regions[i].t0_ms)) / 2);
    }
    return cuts;
}

// The time of the speech's clock within [t0, t1) at which speech is least likely.
i64 least_likely(const Timeline& timeline, const SpeechTrack& track, i64 t0_ms, i64 t1_ms) {
    i64 best_ms = t1_ms;
    float least = 2;
    for (i64 t_ms = t0_ms; t_ms < t1_ms; t_ms += track.chunk_ms) {
        auto chunk = static_cast<size_t>(timeline.start_ms(t_ms) / track.chunk_ms);
        if (chunk >= track.probabilities.size() || track.probabilities[chunk] >= least) continue;
        least = track.probabilities[chunk];
        best_ms = t_ms;
    }
    return best_ms;
}

constexpr i64 frame_ms = 10;
constexpr size_t n_quiet = 30;  // frames of the pause that is looked for

// Loudness frame by frame, as far as the current piece goes.
class Energies {
  public:
    explicit Energies(AudioSource& audio) : audio_(audio) {}

    // Frames of the piece, at most n_max; fewer mean that the recording ends with them.
    Expected<size_t> fill(size_t n_max) {
        std::array<float, sample_rate / 1000 * frame_ms> frame;
        while (!ended_ && energies_.size() < n_max) {
            TRY_SET(size_t n_read, audio_.read(frame));
            ended_ = n_read < frame.size();
            n_samples_ += static_cast<i64>(n_read);
            if (n_read == 0) break;
            double sum = 0;
            for (size_t i = 0; i < n_read; i++) sum += static_cast<double>(frame[i]) * frame[i];
            energies_.push_back(sum);
        }
        return energies_.size();
    }

    // Frames before the middle of the quietest stretch that begins at frame `from` or later.
    size_t quietest(size_t from) const {
        double sum = 0, least = 0;
        size_t best = 0;
        for (size_t i = from; i < energies_.size(); i++) {
            sum += energies_[i];
            if (i >= from + n_quiet) sum -= energies_[i - n_quiet];
            bool full = i + 1 >= from + n_quiet;
            if (!full || (best > 0 && sum >= least)) continue;
            least = sum;
            best = i + 1 - n_quiet / 2;
        }
        return best;
    }

    void drop(size_t n) { energies_.erase(energies_.begin(), energies_.begin() + i64(n)); }
    i64 read_ms() const { return (n_samples_ * 1000 + sample_rate - 1) / sample_rate; }

  private:
    AudioSource& audio_;
    std::deque<double> energies_;
    i64 n_samples_ = 0;
    bool ended_ = false;
};

}  // namespace

std::vector<TimeSpan> cut_pieces(const Timeline& timeline, std::span<const TimeSpan> regions,
                                 const SpeechTrack& track, i64 ms_max) {
    const std::vector<i64> cuts = cuts_of(timeline, regions);
    const i64 end_ms = timeline.length_ms();
    std::vector<TimeSpan> pieces;
    for (i64 at_ms = 0; at_ms < end_ms; at_ms = pieces.back().t1_ms) {
        i64 last_ms = at_ms + ms_max, cut_ms = end_ms;
        if (end_ms > last_ms) {
            auto after = std::upper_bound(cuts.begin(), cuts.end(), last_ms);
            bool late = after != cuts.begin() && after[-1] > at_ms + ms_max / 3;
            cut_ms =
                late ? after[-1] : least_likely(timeline, track, last_ms - ms_max / 3, last_ms);
        }
        pieces.push_back({at_ms, cut_ms});
    }
    return pieces;
}

Expected<std::vector<TimeSpan>> cut_pieces(AudioSource& audio, i64 ms_max) {
    const auto n_max = static_cast<size_t>(ms_max / frame_ms);
    CHECK(n_max >= 2 * n_quiet);
    Energies energies(audio);
    std::vector<TimeSpan> pieces;
    i64 at_ms = 0;
    for (;;) {
        TRY_SET(size_t n_frames, energies.fill(n_max + 1));
        if (n_frames <= n_max) break;
        size_t n = energies.quietest(n_max / 2);
        energies.drop(n);
        pieces.push_back({at_ms, at_ms + static_cast<i64>(n) * frame_ms});
        at_ms = pieces.back().t1_ms;
    }
    if (energies.read_ms() > at_ms) pieces.push_back({at_ms, energies.read_ms()});
    return pieces;
}

}  // namespace transcribe
