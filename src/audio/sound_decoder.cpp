#include "audio/sound_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "audio/av.h"

namespace transcribe {
namespace {

using av::reason;

bool plausible(int rate_hz, int n_channels) {
    return rate_hz >= frame_rate_min_hz && rate_hz <= frame_rate_max_hz && n_channels >= 1 &&
           n_channels <= n_channels_max;
}

// "video (h264), subtitle (ass)": what a file without sound holds instead.
std::string streams(const AVFormatContext& container) {
    std::string list;
    constexpr unsigned n_shown_max = 4;
    for (unsigned i = 0; i < container.nb_streams && i < n_shown_max; i++) {
        const AVCodecParameters& par = *container.streams[i]->codecpar;
        const char* kind = av_get_media_type_string(par.codec_type);
        list += fmt::format("{}{} ({})", i ? ", " : "", kind ? kind : "unknown",
                            avcodec_get_name(par.codec_id));
    }
    return list.empty() ? "nothing" : list;
}

// WAVE_FORMAT_EXTENSIBLE may keep fewer valid bits in a larger container (24 in 32). Samples stand
// left-aligned, so the block size alone says how to read them; libavformat goes by the valid bits,
// and takes 24 in 32 for a float format of the nineties. Returns the factor that corrects the
// duration.
double follow_container_size(AVCodecParameters& par) {
    constexpr AVCodecID taken[] = {AV_CODEC_ID_PCM_S16LE, AV_CODEC_ID_PCM_S24LE,
                                   AV_CODEC_ID_PCM_S32LE, AV_CODEC_ID_PCM_F16LE,
                                   AV_CODEC_ID_PCM_F24LE};
    const int n_bytes = par.block_align / par.ch_layout.nb_channels;
    if (std::count(std::begin(taken), std::end(taken), par.codec_id) == 0) return 1;
    if (n_bytes < 2 || n_bytes > 4 || par.bits_per_coded_sample <= 0) return 1;
    par.codec_id = taken[n_bytes - 2];
    const int n_bits_taken = std::exchange(par.bits_per_coded_sample, n_bytes * 8);
    const int n_bytes_taken = (n_bits_taken + 7) / 8;
    return double(n_bytes_taken) / n_bytes;
}

}  // namespace

struct SoundDecoder::State {
    explicit State(const Source& source)
        : container(source.container),
          name(source.name),
          is_wav_extensible(source.is_wav_extensible),
          format(source.format) {}

    AVFormatContext& container;
    const std::string name;
    const bool is_wav_extensible;
    AVStream* stream = nullptr;
    const AVCodec* decoder = nullptr;
    av::Codec codec;
    av::Packet packet{av_packet_alloc()};
    av::Frame frame{av_frame_alloc()};

    std::string format, stopped_by;
    double duration_factor = 1;
    int n_damaged = 0;
    bool draining = false;

    Error fault(const std::string& what) const { return {Code::bad_audio, name + ": " + what}; }
    static Error no_memory() { return {Code::out_of_memory, "no memory left to read audio"}; }
    Status pick_stream();
    Status open_decoder();
    int feed();
};

Status SoundDecoder::State::pick_stream() {
    AVFormatContext* c = &container;
    int index = av_find_best_stream(c, AVMEDIA_TYPE_AUDIO, -1, -1, nullptr, 0);
    for (unsigned i = 0; index < 0 && i < c->nb_streams; i++) {
        // One without channels or a rate is passed over there; here it shall get its own message.
        if (c->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_AUDIO) index = int(i);
    }
    if (index < 0) return fault(fmt::format("no sound in it: {} with {}", format, streams(*c)));
    for (unsigned i = 0; i < c->nb_streams; i++) {
        if (int(i) != index) c->streams[i]->discard = AVDISCARD_ALL;
    }
    stream = c->streams[index];
    return {};
}

Status SoundDecoder::State::open_decoder() {
    AVCodecParameters& par = *stream->codecpar;
    const bool known = par.codec_id != AV_CODEC_ID_NONE;
    format += known ? fmt::format(", {}", avcodec_get_name(par.codec_id))
                    : fmt::format(", unknown codec {:#x}", par.codec_tag);
    if (!plausible(par.sample_rate, par.ch_layout.nb_channels)) {
        return fault(
            fmt::format("{} at {} Hz with {} channels: only {} to {} Hz and 1 to {} channels "
                        "are read",
                        format, par.sample_rate, par.ch_layout.nb_channels, frame_rate_min_hz,
                        frame_rate_max_hz, n_channels_max));
    }
    if (is_wav_extensible) duration_factor = follow_container_size(par);
    decoder = avcodec_find_decoder(par.codec_id);
    if (!decoder) return fault(format + ": this FFmpeg has no decoder for it");
    codec.reset(avcodec_alloc_context3(decoder));
    if (!codec) return no_memory();
    int status = avcodec_parameters_to_context(codec.get(), &par);
    codec->pkt_timebase = stream->time_base;  // without it the padding of encoders is not cut off
    codec->thread_count = 1;
    if (status >= 0) status = avcodec_open2(codec.get(), decoder, nullptr);
    if (status < 0) return fault(fmt::format("{}: {}", format, reason(status)));
    return {};
}

// Gives the decoder its next packet, or tells it that there are no more. Returns < 0 when it
// refused.
int SoundDecoder::State::feed() {
    for (;;) {
        const int status = av_read_frame(&container, packet.get());
        if (status < 0) {
            if (status != AVERROR_EOF) stopped_by = reason(status);
            draining = true;
            return avcodec_send_packet(codec.get(), nullptr);
        }
        const bool ours = packet->stream_index == stream->index;
        const int sent = ours ? avcodec_send_packet(codec.get(), packet.get()) : 0;
        av_packet_unref(packet.get());
        if (ours) return sent;
    }
}

Expected<std::unique_ptr<SoundDecoder>> SoundDecoder::open(const Source& source) {
    auto state = std::make_unique<State>(source);
    if (!state->packet || !state->frame) return State::no_memory();
    TRY(state->pick_stream());
    TRY(state->open_decoder());
    return std::make_unique<SoundDecoder>(std::move(state));
}

SoundDecoder::SoundDecoder(std::unique_ptr<State> state) : state_(std::move(state)) {}
SoundDecoder::~SoundDecoder() = default;

AVFrame* SoundDecoder::next() {
    State& s = *state_;
    for (;;) {
        const int status = avcodec_receive_frame(s.codec.get(), s.frame.get());
        if (status == AVERROR_EOF) return nullptr;
        if (status >= 0) {
            if (s.frame->nb_samples <= 0) continue;
            if (plausible(s.frame->sample_rate, s.frame->ch_layout.nb_channels)) {
                return s.frame.get();
            }
            s.n_damaged++;
            continue;
        }
        if (status != AVERROR(EAGAIN)) s.n_damaged++;
        if (s.draining) return nullptr;
        const int fed = s.feed();
        if (fed < 0 && fed != AVERROR(EAGAIN) && fed != AVERROR_EOF) s.n_damaged++;
    }
}

const AVStream& SoundDecoder::stream() const {
    return *state_->stream;
}
double SoundDecoder::duration_factor() const {
    return state_->duration_factor;
}
const std::string& SoundDecoder::format() const {
    return state_->format;
}
int SoundDecoder::n_damaged() const {
    return state_->n_damaged;
}
const std::string& SoundDecoder::stopped_by() const {
    return state_->stopped_by;
}

}  // namespace transcribe
