#include "audio/resample.h"

#include <fmt/format.h>

#include <cstring>

#include "audio/av.h"
#include "audio/downmix.h"
#include "audio/sound_decoder.h"

namespace transcribe {

namespace {

constexpr size_t n_block_frames = 16384;
constexpr size_t n_filter_samples_max = 1024;  // what the resampler adds at both ends

// Null where there is no memory.
av::Frame frame_of(PcmFormat format, std::span<const float> interleaved) {
    av::Frame frame(av_frame_alloc());
    if (!frame) return nullptr;
    frame->format = AV_SAMPLE_FMT_FLT;
    frame->sample_rate = format.rate_hz;
    frame->nb_samples = static_cast<int>(interleaved.size()) / format.n_channels;
    av_channel_layout_default(&frame->ch_layout, format.n_channels);
    if (av_frame_get_buffer(frame.get(), 0) < 0) return nullptr;
    std::memcpy(frame->data[0], interleaved.data(), interleaved.size_bytes());
    return frame;
}

}  // namespace

Status check(PcmFormat format) {
    bool rate_fits = format.rate_hz >= frame_rate_min_hz && format.rate_hz <= frame_rate_max_hz;
    if (rate_fits && format.n_channels >= 1 && format.n_channels <= n_channels_max) return {};
    return Error{
        Code::invalid_argument,
        fmt::format("{} channels at {} Hz: a recording has 1 to {} channels at {} to {} Hz",
                    format.n_channels, format.rate_hz, n_channels_max, frame_rate_min_hz,
                    frame_rate_max_hz)};
}

size_t n_resampled_max(PcmFormat format, size_t n_frames) {
    auto ratio = static_cast<double>(sample_rate) / format.rate_hz;
    return static_cast<size_t>(static_cast<double>(n_frames) * ratio) + n_filter_samples_max;
}

Expected<std::vector<float>> resample(PcmFormat format, std::span<const float> interleaved) {
    TRY(check(format));
    auto n_channels = static_cast<size_t>(format.n_channels);
    std::vector<float> out;
    out.reserve(n_resampled_max(format, interleaved.size() / n_channels));
    Downmix downmix;
    std::vector<std::int16_t> block;
    while (true) {
        size_t n = std::min(interleaved.size(), n_block_frames * n_channels);
        if (n > 0) {
            av::Frame frame = frame_of(format, interleaved.first(n));
            if (!frame) return Error{Code::out_of_memory, "there is no memory to resample in"};
            TRY(downmix.push(frame.get(), block));
            interleaved = interleaved.subspan(n);
        } else {
            TRY(downmix.drain(block));
        }
        for (std::int16_t sample : block) out.push_back(static_cast<float>(sample) / 32768);
        block.clear();
        if (n == 0) return out;
    }
}

}  // namespace transcribe
