#include "engine/pieces.h"

#include <algorithm>
#include <array>
#include <deque>
#include <numeric>

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
// A stretch is as quiet as the quietest within 6 dB, or 30 dB below what is usual: both are pauses.
constexpr double alike = 4;
constexpr double faint = 0.001;
// A pause is better by as much as it is longer, up to a second, and by a tenth of what it is later.
constexpr size_t n_long_pause = 100;
constexpr size_t n_frames_of_value = 10;

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

    // Frames before a cut in the best pause that begins at frame `from` or later: late, so that
    // there are few pieces, and long, so that it ends a sentence. Only its first 300 ms go with
    // what was said before it: where a piece ends in silence, the model invents words for it.
    size_t best_pause(size_t from) const {
        const std::vector<double> sums = stretches(from);
        const double mean = std::accumulate(sums.begin(), sums.end(), 0.0) / double(sums.size());
        const double least = *std::min_element(sums.begin(), sums.end());
        const double quiet = std::max(alike * least, least + faint * mean);
        size_t best = 0, cut = 0, n = 0;
        for (size_t i = 0; i < sums.size(); i++) {
            n = sums[i] <= quiet ? n + 1 : 0;
            const size_t value = std::min(n, n_long_pause) + i / n_frames_of_value;
            if (n == 0 || value < best) continue;
            best = value;
            cut = i + 1 - n + std::min(n_quiet, (n + n_quiet) / 2);
        }
        return from + cut;
    }

    void drop(size_t n) { energies_.erase(energies_.begin(), energies_.begin() + i64(n)); }
    i64 read_ms() const { return (n_samples_ * 1000 + sample_rate - 1) / sample_rate; }

  private:
    // The energy of each n_quiet frames in a row, from frame `from` on.
    std::vector<double> stretches(size_t from) const {
        std::vector<double> sums;
        double sum = 0;
        for (size_t i = from; i < energies_.size(); i++) {
            sum += energies_[i];
            if (i + 1 < from + n_quiet) continue;
            sums.push_back(sum);
            sum -= energies_[i + 1 - n_quiet];
        }
        return sums;
    }

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
    CHECK(ms_max >= shortest_piece_ms_max);
    Energies energies(audio);
    std::vector<TimeSpan> pieces;
    i64 at_ms = 0;
    for (;;) {
        TRY_SET(size_t n_frames, energies.fill(n_max + 1));
        if (n_frames <= n_max) break;
        size_t n = energies.best_pause(n_max / 2);
        energies.drop(n);
        pieces.push_back({at_ms, at_ms + static_cast<i64>(n) * frame_ms});
        at_ms = pieces.back().t1_ms;
    }
    if (energies.read_ms() > at_ms) pieces.push_back({at_ms, energies.read_ms()});
    return pieces;
}

}  // namespace transcribe
