#include "families/canary_qwen/encoder.h"

#include <algorithm>
#include <numeric>

#include "audio/clip_mel.h"
#include "base/trace.h"

namespace transcribe::canary_qwen {

namespace {

// Mel frames of a padded batch. The first convolution makes 64 KB of each.
constexpr i64 n_batch_frames_max = 6000;

// Clips of about the same length fit together: padding is computed like sound.
bool fits(i64 n_frames, i64 shortest, size_t n_rows) {
    return n_frames <= shortest + shortest / 8 + 8 &&
           n_frames * static_cast<i64>(n_rows + 1) <= n_batch_frames_max;
}

// Runs of `order` (indices of clips, by length) that are computed as one batch.
std::vector<std::vector<size_t>> batches(std::span<const i64> n_frames) {
    std::vector<size_t> order(n_frames.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t i) { return n_frames[i]; });
    std::vector<std::vector<size_t>> out;
    for (size_t i : order) {
        if (n_frames[i] == 0) continue;
        bool joins =
            !out.empty() && fits(n_frames[i], n_frames[out.back().front()], out.back().size());
        if (!joins) out.emplace_back();
        out.back().push_back(i);
    }
    return out;
}

}  // namespace

void EncoderNet::bind(Scope enc, const AudioConfig& c) {
    conformer.bind(enc, c.encoder);
    proj.bind(enc / "proj", c.encoder.d, c.d_out);
}

Tensor EncoderNet::operator()(const FrameInputs& in) const {
    return in.mel.g->tap(proj(conformer(in)), "enc.proj.out");
}

Expected<std::vector<AudioEmbeddings>> AudioEncoder::encode(
    std::span<const std::span<const float>> clips) {
    std::vector<i64> n_frames;
    for (auto clip : clips) {
        n_frames.push_back(n_clip_frames(mel_.spec(), static_cast<i64>(clip.size())));
    }
    std::vector<AudioEmbeddings> out(clips.size());
    for (const std::vector<size_t>& batch : batches(n_frames)) {
        std::vector<std::vector<float>> mels;
        {
            Span span("mel");
            for (size_t i : batch) mels.push_back(clip_mel(mel_, clips[i]));
        }
        TRY_SET(auto rows, encode_batch(FrameFeed(config_.encoder, mels)));
        for (size_t row = 0; row < batch.size(); row++) out[batch[row]] = std::move(rows[row]);
    }
    return out;
}

Expected<std::vector<AudioEmbeddings>> AudioEncoder::encode_batch(const FrameFeed& feed) {
    Span span("encode");
    Graph& g = compute_.begin();
    g.rounding = compute_.rounding;
    FrameInputs in = FrameInputs::declare(g, config_.encoder, feed.n_frames(), feed.n_rows());
    Tensor y = g.keep(net_(in));  // [d_out, T', B]
    TRY(feed.run(compute_, in));
    std::span<const float> values = compute_.values(y);
    std::vector<AudioEmbeddings> rows(static_cast<size_t>(feed.n_rows()));
    auto row_size = static_cast<size_t>(y.dim(0) * y.dim(1));
    for (size_t row = 0; row < rows.size(); row++) {
        rows[row].n_frames = feed.n_out(row);
        auto own =
            values.subspan(row * row_size, static_cast<size_t>(y.dim(0) * rows[row].n_frames));
        rows[row].values.assign(own.begin(), own.end());
    }
    return rows;
}

}  // namespace transcribe::canary_qwen
