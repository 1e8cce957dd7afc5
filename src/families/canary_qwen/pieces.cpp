#include "families/canary_qwen/pieces.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace transcribe::canary_qwen {

namespace {

constexpr i64 samples_per_ms = sample_rate / 1000;
constexpr float silence_max = 0x1p-11f;  // -66 dB of full scale

}  // namespace

bool Piece::is_silent() const {
    return std::ranges::all_of(samples, [](float v) { return std::fabs(v) < silence_max; });
}

i64 PieceReader::longest_ms() const {
    i64 ms = 0;
    for (const TimeSpan& span : recording_.pieces) ms = std::max(ms, span.t1_ms - span.t0_ms);
    return ms;
}

double PieceReader::total_s() const {
    if (!recording_.pieces.empty()) {
        return static_cast<double>(recording_.pieces.back().t1_ms) / 1000;
    }
    return ended_ ? static_cast<double>(n_samples_) / sample_rate : 0;
}

// The samples of a span, which may end behind the recording.
Expected<Piece> PieceReader::read(TimeSpan span) {
    Piece piece;
    const i64 from = span.t0_ms * samples_per_ms, to = span.t1_ms * samples_per_ms;
    piece.samples.resize(static_cast<size_t>(std::max<i64>(to - n_samples_, 0)));
    TRY_SET(size_t n_read, recording_.audio->read(piece.samples));
    ended_ = n_read < piece.samples.size();
    piece.samples.resize(n_read);
    const size_t n_skipped =
        std::min(n_read, static_cast<size_t>(std::max<i64>(from - n_samples_, 0)));
    piece.samples.erase(piece.samples.begin(), piece.samples.begin() + static_cast<i64>(n_skipped));
    for (size_t i = 0; i < piece.samples.size(); i++) {
        if (std::isfinite(piece.samples[i])) continue;
        const i64 at = n_samples_ + static_cast<i64>(n_skipped + i);
        return Error{Code::bad_audio, fmt::format("sample {} of the recording is not finite", at)};
    }
    n_samples_ += static_cast<i64>(n_read);
    piece.span = {span.t0_ms,
                  std::min(span.t1_ms, (n_samples_ + samples_per_ms - 1) / samples_per_ms)};
    return piece;
}

Expected<std::optional<Piece>> PieceReader::next() {
    if (ended_) return std::optional<Piece>();
    if (!recording_.pieces.empty()) {
        if (n_read_ == recording_.pieces.size()) return std::optional<Piece>();
        TRY_SET(Piece piece, read(recording_.pieces[n_read_++]));
        if (piece.samples.empty()) return std::optional<Piece>();
        return std::optional<Piece>(std::move(piece));
    }
    TRY_SET(Piece piece, read({0, ms_max_ + 1}));
    if (!ended_) {
        return Error{
            Code::invalid_argument,
            fmt::format("the recording is over {} s long; it must come in pieces", ms_max_ / 1000)};
    }
    if (piece.samples.empty()) return std::optional<Piece>();
    return std::optional<Piece>(std::move(piece));
}

}  // namespace transcribe::canary_qwen
