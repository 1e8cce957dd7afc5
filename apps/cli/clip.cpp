#include "cli/clip.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace transcribe::cli {

namespace {

i64 samples(double seconds) {
    return std::llround(seconds * sample_rate);
}

}  // namespace

ClipSource::ClipSource(AudioSource& whole, const Clip& clip)
    : whole_(whole),
      n_skip_(samples(clip.offset_s)),
      n_clip_(clip.duration_s > 0 ? samples(clip.duration_s) : std::numeric_limits<i64>::max()) {}

Status ClipSource::skip_to_start() {
    std::vector<float> block(static_cast<size_t>(std::min<i64>(n_skip_, 1 << 16)));
    for (i64 left = n_skip_; left > 0;) {
        const size_t n_wanted = std::min(block.size(), static_cast<size_t>(left));
        TRY_SET(const size_t n_read, whole_.read({block.data(), n_wanted}));
        left -= static_cast<i64>(n_read);
        if (n_read == n_wanted) continue;
        return Error{Code::bad_audio,
                     fmt::format("the recording has {:.2f} s, and --offset {} begins after its end",
                                 static_cast<double>(n_skip_ - left) / sample_rate,
                                 static_cast<double>(n_skip_) / sample_rate)};
    }
    skipped_ = true;
    return {};
}

Expected<size_t> ClipSource::read(std::span<float> out) {
    if (!skipped_) TRY(skip_to_start());
    const auto n_left = static_cast<size_t>(std::max<i64>(n_clip_ - at_, 0));
    TRY_SET(const size_t n_read, whole_.read(out.first(std::min(out.size(), n_left))));
    at_ += static_cast<i64>(n_read);
    return n_read;
}

Status ClipSource::rewind() {
    at_ = 0;
    skipped_ = false;
    return whole_.rewind();
}

void shift(Segment& segment, const Clip& clip) {
    const i64 ms = std::llround(clip.offset_s * 1000);
    segment.seek += ms / 10;
    segment.t0_ms += ms;
    segment.t1_ms += ms;
    for (Word& word : segment.words) {
        word.t0_ms += ms;
        word.t1_ms += ms;
    }
}

void shift(Transcript& transcript, const Clip& clip) {
    transcript.duration_s += clip.offset_s;
    for (Segment& segment : transcript.segments) shift(segment, clip);
}

}  // namespace transcribe::cli
