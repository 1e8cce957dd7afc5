// The mel of a whole recording in bounded memory: one pass for its length and maximum, then
// windows.
//
// What bites: the reference pads 30 s of zeros, so the frames that hang over the end of the
// recording (one or two past n_frames) count for the maximum, and so does log10(1e-10) of pure
// zeros; the samples before the first are a mirror image.
#include <algorithm>
#include <cmath>
#include <utility>

#include "audio/mel.h"
#include "base/check.h"

namespace transcribe {
namespace {

constexpr int n_block = 200;      // frames computed at once
constexpr float lowest = -10.0f;  // log10(1e-10), the level of zeros

// Sound worth decoding reaches loud_level in some mel band from 300 Hz up for 40 ms. A steady tone
// does from -80 dBFS or so, speech with peaks at -46 dBFS by a factor of ten and more; pink noise
// of -78 dBFS RMS stays 2.5 dB below. Mains hum lies below 300 Hz, and the click of its beginning
// is shorter than 40 ms.
constexpr float loud_level = -6.0f;
constexpr float loud_from_hz = 300.0f;
constexpr int n_loud_min = 4;  // frames in a row

// The first band whose filter has its peak at loud_from_hz or above.
int first_loud_band(const MelSpec& spec) {
    const int n_bins = spec.n_fft / 2 + 1;
    for (int m = 0; m < spec.n_mels; m++) {
        const float* filter = spec.filters.data() + i64(m) * n_bins;
        const auto peak = std::max_element(filter, filter + n_bins) - filter;
        if (float(peak) * sample_rate / spec.n_fft >= loud_from_hz) return m;
    }
    return 0;
}

// Frames in order, from the first sample to the last frame that touches one.
class FrameReader {
  public:
    FrameReader(const Mel& mel, AudioSource& source) : mel_(mel), source_(source) {}

    Status restart() {
        samples_.clear();
        n_samples_ = n_done_ = 0;
        ended_ = false;
        return source_.rewind();
    }
    // Appends up to n_block frames to `out` and says how many; 0 is the end.
    Expected<int> next(std::vector<float>& out);
    i64 n_samples() const { return n_samples_; }  // read so far

  private:
    Status fill(size_t n);
    void mirror_start();

    const Mel& mel_;
    AudioSource& source_;
    std::vector<float> samples_;  // padded, from the start of frame n_done_
    i64 n_samples_ = 0, n_done_ = 0;
    bool ended_ = false;
};

// Reads until `samples_` holds n, or the source ends.
Status FrameReader::fill(size_t n) {
    while (!ended_ && samples_.size() < n) {
        const size_t had = samples_.size();
        samples_.resize(n);
        TRY_SET(const size_t got, source_.read(std::span(samples_).subspan(had)));
        samples_.resize(had + got);
        n_samples_ += i64(got);
        ended_ = got < n - had;
    }
    return {};
}

// Puts the mirror image of samples 1, 2, ... before sample 0; zeros follow a very short recording.
void FrameReader::mirror_start() {
    const size_t n_pad = mel_.spec().n_fft / 2;
    std::vector<float> mirrored(n_pad, 0.0f);
    for (size_t j = 1; j <= n_pad && j < samples_.size(); j++) mirrored[n_pad - j] = samples_[j];
    samples_.insert(samples_.begin(), mirrored.begin(), mirrored.end());
}

Expected<int> FrameReader::next(std::vector<float>& out) {
    const i64 hop = mel_.spec().hop, n_fft = mel_.spec().n_fft;
    const size_t n_needed = size_t((n_block - 1) * hop + n_fft);
    TRY(fill(n_needed));
    if (n_done_ == 0) mirror_start();

    i64 n = n_block;
    if (ended_) {
        const i64 n_touching = n_samples_ == 0 ? 0 : (n_samples_ + n_fft / 2 + hop - 1) / hop;
        n = std::min(n, n_touching - n_done_);
        if (samples_.size() < n_needed) samples_.resize(n_needed, 0.0f);
    }
    const size_t n_mels = mel_.spec().n_mels, had = out.size();
    out.resize(had + size_t(n) * n_mels);
    mel_.frames(samples_.data(), int(n), out.data() + had);
    samples_.erase(samples_.begin(), samples_.begin() + n * hop);
    n_done_ += n;
    return int(n);
}

}  // namespace

struct WhisperMel::State {
    State(const Mel& m, AudioSource& source, i64 back, i64 kept_max)
        : mel(m),
          reader(m, source),
          n_back(back),
          n_kept_max(kept_max),
          loud_band(first_loud_band(m.spec())) {}

    const Mel& mel;
    FrameReader reader;
    const i64 n_back, n_kept_max;
    const int loud_band;
    i64 n_samples = -1, n_frames = 0;
    float maximum = lowest;
    std::vector<bool> loud;     // [n_frames]
    std::vector<float> frames;  // [n_mels, held], from frame `first` on
    i64 first = 0;

    i64 n_held() const { return i64(frames.size()) / mel.spec().n_mels; }
    void note_levels(std::span<const float> frame);
    Status hold(i64 t0, i64 t1);
};

void WhisperMel::State::note_levels(std::span<const float> frame) {
    maximum = std::max(maximum, *std::max_element(frame.begin(), frame.end()));
    loud.push_back(*std::max_element(frame.begin() + loud_band, frame.end()) >= loud_level);
}

// Makes frames [t0, t1) present, reading on or anew, and drops those far behind t0.
Status WhisperMel::State::hold(i64 t0, i64 t1) {
    const int n_mels = mel.spec().n_mels;
    if (t0 < first) {
        TRY(reader.restart());
        frames.clear();
        first = 0;
    }
    while (first + n_held() < t1) {
        const i64 n_stale = std::min(t0 - n_back - first, n_held());
        if (n_stale >= n_back || n_stale == n_held()) {
            if (n_stale > 0) frames.erase(frames.begin(), frames.begin() + n_stale * n_mels);
            first += std::max<i64>(n_stale, 0);
        }
        TRY_SET(const int n, reader.next(frames));
        if (n == 0) return Error{Code::bad_audio, "the recording became shorter while it was read"};
    }
    return {};
}

WhisperMel::WhisperMel(const Mel& mel, AudioSource& source, i64 n_back, i64 n_kept_max)
    : state_(std::make_unique<State>(mel, source, n_back, n_kept_max)) {}
WhisperMel::~WhisperMel() = default;

i64 WhisperMel::n_samples() const {
    return state_->n_samples;
}
i64 WhisperMel::n_frames() const {
    return state_->n_frames;
}

Status WhisperMel::scan() {
    State& s = *state_;
    const int n_mels = s.mel.spec().n_mels;
    bool keeps = true;
    for (;;) {
        const i64 n_before = s.n_held();
        TRY_SET(const int n, s.reader.next(s.frames));
        if (n == 0) break;
        const std::span fresh = std::span(s.frames).subspan(n_before * n_mels);
        for (int i = 0; i < n; i++) s.note_levels(fresh.subspan(i64(i) * n_mels, n_mels));
        keeps = keeps && s.n_held() <= s.n_kept_max;
        if (!keeps) s.frames.clear();
    }
    s.n_samples = s.reader.n_samples();
    s.n_frames = s.n_samples / s.mel.spec().hop;
    s.loud.resize(s.n_frames);
    if (!keeps) {
        s.frames = {};
        s.first = s.n_frames;  // none held: the first window rewinds
    }
    return {};
}

Status WhisperMel::window(i64 t0, int n, std::span<float> out, Behind behind) {
    State& s = *state_;
    const i64 n_mels = s.mel.spec().n_mels;
    CHECK(s.n_samples >= 0 && t0 >= 0 && n >= 0 && i64(out.size()) >= n * n_mels);
    const i64 t1 = std::max(t0, std::min(t0 + n, s.n_frames));
    if (t0 < t1) TRY(s.hold(t0, t1));

    const float floor = s.maximum - 8.0f;
    auto normalized = [&](float x) { return (std::max(x, floor) + 4.0f) / 4.0f; };
    const bool zeros = behind == Behind::zeros;
    // The frame or two that hang over the end hold a little of the recording.
    const i64 n_there = zeros ? t1 - t0 : std::min<i64>(n, s.first + s.n_held() - t0);
    const float* from = s.frames.data() + (t0 - s.first) * n_mels;
    for (i64 i = 0; i < n_there * n_mels; i++) out[i] = normalized(from[i]);
    std::fill(out.begin() + n_there * n_mels, out.begin() + n * n_mels,
              zeros ? 0.0f : normalized(lowest));
    return {};
}

Expected<bool> WhisperMel::silent(i64 t0, int n) {
    const std::vector<bool>& loud = state_->loud;
    CHECK(state_->n_samples >= 0 && t0 >= 0);
    const i64 begin = std::min(t0, i64(loud.size())), end = std::min(t0 + n, i64(loud.size()));
    const auto first = loud.begin() + begin, last = loud.begin() + end;
    return std::search_n(first, last, n_loud_min, true) == last;
}

}  // namespace transcribe
