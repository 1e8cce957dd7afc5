// One resampler per run of equal frames; a change of rate, format or layout starts another.
//
// What bites: channels in opposite phase (a microphone wired wrongly, a balanced line taken for
// stereo) cancel in any mix, and the speech is gone. Each two-channel frame is therefore weighed:
// where the mix holds less than a hundredth of the channels' mean energy (correlation below -0.98),
// the first channel takes the second's place. A frame decides for itself, without memory, so
// reading again gives the same samples; ordinary stereo does not come near the limit.
#include "audio/downmix.h"

#include <fmt/format.h>

#include <cstring>
#include <string>
#include <type_traits>

#include "base/audio_source.h"

extern "C" {
#include <libavutil/channel_layout.h>
#include <libavutil/frame.h>
#include <libavutil/samplefmt.h>
#include <libswresample/swresample.h>
}

namespace transcribe {
namespace {

constexpr double cancelled_ratio = 0.01;  // energy of the mix / mean energy of the channels
constexpr double faint_energy = 1e-6;     // -60 dBFS: below it nothing is worth saving

struct FreeSwr {
    void operator()(SwrContext* swr) const { swr_free(&swr); }
};

std::string reason(int error) {
    char text[AV_ERROR_MAX_STRING_SIZE] = {};
    av_strerror(error, text, sizeof text);
    return text;
}

// Where a frame's two channels are, whatever its format: interleaved or one plane each.
struct Stereo {
    explicit Stereo(const AVFrame& f)
        : format(av_get_packed_sample_fmt(AVSampleFormat(f.format))),
          n_sample_bytes(av_get_bytes_per_sample(format)),
          n(f.nb_samples) {
        const bool planar = av_sample_fmt_is_planar(AVSampleFormat(f.format));
        left = f.extended_data[0];
        right = planar ? f.extended_data[1] : left + n_sample_bytes;
        n_step_bytes = planar ? n_sample_bytes : 2 * n_sample_bytes;
    }
    std::uint8_t *left, *right;
    AVSampleFormat format;
    int n_sample_bytes, n_step_bytes, n;
};

template <class Sample>
bool cancels(const Stereo& s) {
    // Integers to [-1, 1); 8-bit samples are unsigned.
    constexpr double offset = std::is_same_v<Sample, std::uint8_t> ? 128 : 0;
    constexpr double scale = std::is_floating_point_v<Sample> ? 1
                             : sizeof(Sample) == 1            ? 1 / 128.0
                             : sizeof(Sample) == 2            ? 1 / 32768.0
                                                              : 1 / 2147483648.0;
    double mix = 0, channels = 0;
    for (int i = 0; i < s.n; i++) {
        Sample a, b;
        std::memcpy(&a, s.left + i64(i) * s.n_step_bytes, sizeof a);
        std::memcpy(&b, s.right + i64(i) * s.n_step_bytes, sizeof b);
        const double l = (double(a) - offset) * scale, r = (double(b) - offset) * scale;
        mix += (l + r) * (l + r) / 4;
        channels += (l * l + r * r) / 2;
    }
    return channels > faint_energy * s.n && mix < cancelled_ratio * channels;
}

bool cancels(const Stereo& s) {
    switch (s.format) {
        case AV_SAMPLE_FMT_U8: return cancels<std::uint8_t>(s);
        case AV_SAMPLE_FMT_S16: return cancels<std::int16_t>(s);
        case AV_SAMPLE_FMT_S32: return cancels<std::int32_t>(s);
        case AV_SAMPLE_FMT_FLT: return cancels<float>(s);
        case AV_SAMPLE_FMT_DBL: return cancels<double>(s);
        default: return false;
    }
}

// A layout that swresample can mix: the usual one for the number of channels where none is named.
AVChannelLayout named_layout(const AVChannelLayout& layout) {
    AVChannelLayout named{};
    if (layout.order == AV_CHANNEL_ORDER_UNSPEC) {
        av_channel_layout_default(&named, layout.nb_channels);
    } else {
        av_channel_layout_copy(&named, &layout);
    }
    return named;
}

}  // namespace

struct Downmix::State {
    std::unique_ptr<SwrContext, FreeSwr> swr;
    AVChannelLayout layout{};
    int rate_hz = 0, format = -1;
    bool cancelled = false;

    ~State() { av_channel_layout_uninit(&layout); }
    bool fits(const AVFrame& f) const {
        return swr && f.sample_rate == rate_hz && f.format == format &&
               av_channel_layout_compare(&f.ch_layout, &layout) == 0;
    }
    Status start(const AVFrame& f);
    Status convert(const AVFrame* f, std::vector<std::int16_t>& out);
};

Status Downmix::State::start(const AVFrame& f) {
    swr.reset();
    rate_hz = f.sample_rate;
    format = f.format;
    av_channel_layout_uninit(&layout);
    av_channel_layout_copy(&layout, &f.ch_layout);

    AVChannelLayout from = named_layout(f.ch_layout);
    AVChannelLayout mono = AV_CHANNEL_LAYOUT_MONO;  // not const: FFmpeg 5 asks for a plain pointer
    SwrContext* made = nullptr;
    int status = swr_alloc_set_opts2(&made, &mono, AV_SAMPLE_FMT_S16, sample_rate, &from,
                                     AVSampleFormat(format), rate_hz, 0, nullptr);
    swr.reset(made);
    if (status >= 0 && from.order == AV_CHANNEL_ORDER_UNSPEC) {  // no usual layout: equal shares
        const std::vector<double> shares(from.nb_channels, 1.0 / from.nb_channels);
        status = swr_set_matrix(made, shares.data(), from.nb_channels);
    }
    av_channel_layout_uninit(&from);
    if (status >= 0) status = swr_init(made);
    if (status >= 0) return {};
    swr.reset();
    return Error{Code::bad_audio, fmt::format("{} channels at {} Hz cannot be mixed: {}",
                                              f.ch_layout.nb_channels, rate_hz, reason(status))};
}

// Converts a frame, or (nullptr) what is left.
Status Downmix::State::convert(const AVFrame* f, std::vector<std::int16_t>& out) {
    const int n_in = f ? f->nb_samples : 0;
    const int n_room = swr_get_out_samples(swr.get(), n_in);
    if (n_room < 0) return Error{Code::bad_audio, "cannot be resampled: " + reason(n_room)};
    const size_t had = out.size();
    out.resize(had + n_room);
    auto* to = reinterpret_cast<std::uint8_t*>(out.data() + had);
    auto** from = f ? const_cast<const std::uint8_t**>(f->extended_data) : nullptr;
    const int n = swr_convert(swr.get(), &to, n_room, from, n_in);
    out.resize(had + (n > 0 ? n : 0));
    if (n < 0) return Error{Code::bad_audio, "cannot be resampled: " + reason(n)};
    return {};
}

Downmix::Downmix() : state_(std::make_unique<State>()) {}
Downmix::~Downmix() = default;

Status Downmix::push(AVFrame* frame, std::vector<std::int16_t>& out) {
    State& s = *state_;
    if (!s.fits(*frame)) {
        TRY(drain(out));
        TRY(s.start(*frame));
    }
    if (frame->ch_layout.nb_channels == 2 && cancels(Stereo(*frame)) &&
        av_frame_make_writable(frame) >= 0) {
        const Stereo own(*frame);
        for (i64 i = 0, at = 0; i < own.n; i++, at += own.n_step_bytes) {
            std::memcpy(own.right + at, own.left + at, own.n_sample_bytes);
        }
        s.cancelled = true;
    }
    return s.convert(frame, out);
}

Status Downmix::drain(std::vector<std::int16_t>& out) {
    return state_->swr ? state_->convert(nullptr, out) : Status{};
}

bool Downmix::cancelled() const {
    return state_->cancelled;
}

}  // namespace transcribe
