// Opening a container over our own reader, and decoding its best audio stream.
//
// What bites: libavformat opens further files by itself (playlists, references), so io_open refuses
// and no protocol is allowed; headers lie, so rates and channel counts are checked at the container
// and at each frame.
#include "audio/demux.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "audio/riff.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

namespace transcribe {
namespace {

constexpr int n_io_buffer_bytes = 1 << 16;

template <auto free>
struct FreeBy {
    template <class T>
    void operator()(T* p) const {
        free(&p);
    }
};
void free_io(AVIOContext** io) {
    if (*io) av_freep(&(*io)->buffer);
    avio_context_free(io);
}
using Container = std::unique_ptr<AVFormatContext, FreeBy<avformat_close_input>>;
using Io = std::unique_ptr<AVIOContext, FreeBy<free_io>>;
using Codec = std::unique_ptr<AVCodecContext, FreeBy<avcodec_free_context>>;
using Packet = std::unique_ptr<AVPacket, FreeBy<av_packet_free>>;
using Frame = std::unique_ptr<AVFrame, FreeBy<av_frame_free>>;

std::string reason(int error) {
    char text[AV_ERROR_MAX_STRING_SIZE] = {};
    av_strerror(error, text, sizeof text);
    return text;
}

int read_bytes(void* opaque, std::uint8_t* out, int n) {
    const int got = static_cast<FileInput*>(opaque)->read(out, n);
    return got > 0 ? got : got == 0 ? AVERROR_EOF : AVERROR(EIO);
}

std::int64_t seek_bytes(void* opaque, std::int64_t offset, int whence) {
    auto& input = *static_cast<FileInput*>(opaque);
    switch (whence & ~AVSEEK_FORCE) {
        case AVSEEK_SIZE: return input.size_bytes();
        case SEEK_SET: break;
        case SEEK_CUR: offset += input.position; break;
        case SEEK_END: offset += input.size_bytes(); break;
        default: return AVERROR(EINVAL);
    }
    if (offset < 0) return AVERROR(EINVAL);
    return input.position = offset;
}

int refuse_open(AVFormatContext*, AVIOContext**, const char*, int, AVDictionary**) {
    return AVERROR(EACCES);
}

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

// Members in the order of their making: the container must go before its reader.
struct Demuxer::State {
    State(FileInput& i, const std::string& p) : input(i), name(input_name(p)), path(p) {}

    FileInput& input;
    const std::string name, path;
    const AVInputFormat* kind = nullptr;
    Io io;
    Container container;
    AVStream* stream = nullptr;
    const AVCodec* decoder = nullptr;
    Codec codec;
    Packet packet{av_packet_alloc()};
    Frame frame{av_frame_alloc()};

    std::string format, stopped_by;
    double promised_s = 0, estimated_s = 0;
    RiffFacts riff;
    int n_damaged = 0;
    bool draining = false;

    Error fault(const std::string& what) const { return {Code::bad_audio, name + ": " + what}; }
    static Error no_memory() { return {Code::out_of_memory, "no memory left to read audio"}; }
    Status probe();
    Status open_container();
    Status pick_stream();
    Status open_decoder();
    void note_durations(double correction);
    int feed();
};

// Finds out what the file is, by its bytes (and its name where those leave a doubt).
Status Demuxer::State::probe() {
    if (input.size_bytes() == 0) return fault("is empty (0 bytes)");
    riff = read_riff_facts(input);
    input.position = 0;
    auto* buffer = static_cast<unsigned char*>(av_malloc(n_io_buffer_bytes));
    io.reset(
        avio_alloc_context(buffer, n_io_buffer_bytes, 0, &input, read_bytes, nullptr, seek_bytes));
    if (!buffer || !io || !packet || !frame) return no_memory();
    const int status = av_probe_input_buffer2(io.get(), &kind, path.c_str(), nullptr, 0, 0);
    if (status >= 0) return {};
    return fault(
        fmt::format("not a recording in any known format ({} bytes: {}); wav, flac, mp3, "
                    "ogg, opus, m4a, webm, mp4 and whatever else FFmpeg decodes can be read",
                    input.size_bytes(), reason(status)));
}

Status Demuxer::State::open_container() {
    AVFormatContext* opened = avformat_alloc_context();
    if (!opened) return no_memory();
    opened->pb = io.get();
    opened->io_open = refuse_open;
    opened->protocol_whitelist = av_strdup("none");
    format = kind->long_name ? kind->long_name : kind->name;
    int status = avformat_open_input(&opened, path.c_str(), kind, nullptr);  // frees it on failure
    if (status < 0) {
        return fault(fmt::format("looks like {}, but its header cannot be read: {}", format,
                                 reason(status)));
    }
    container.reset(opened);
    status = avformat_find_stream_info(opened, nullptr);
    if (status >= 0) return {};
    return fault(
        fmt::format("looks like {}, but its streams cannot be read: {}", format, reason(status)));
}

Status Demuxer::State::pick_stream() {
    AVFormatContext* c = container.get();
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

Status Demuxer::State::open_decoder() {
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
    const double correction = riff.is_extensible ? follow_container_size(par) : 1;
    decoder = avcodec_find_decoder(par.codec_id);
    if (!decoder) return fault(format + ": this FFmpeg has no decoder for it");
    codec.reset(avcodec_alloc_context3(decoder));
    if (!codec) return no_memory();
    int status = avcodec_parameters_to_context(codec.get(), &par);
    codec->pkt_timebase = stream->time_base;  // without it the padding of encoders is not cut off
    codec->thread_count = 1;
    if (status >= 0) status = avcodec_open2(codec.get(), decoder, nullptr);
    if (status < 0) return fault(fmt::format("{}: {}", format, reason(status)));
    note_durations(correction);
    return {};
}

void Demuxer::State::note_durations(double correction) {
    const bool from_stream = stream->duration > 0;
    if (from_stream) {
        estimated_s = double(stream->duration) * av_q2d(stream->time_base) * correction;
    } else if (container->duration > 0) {
        estimated_s = double(container->duration) / AV_TIME_BASE;
    }
    // A guess by the bit rate is no promise, nor is the length of a film that of its sound.
    const bool guessed = container->duration_estimation_method == AVFMT_DURATION_FROM_BITRATE;
    if (!guessed && (from_stream || container->nb_streams == 1)) promised_s = estimated_s;
    const AVCodecParameters& par = *stream->codecpar;
    if (const int n_bits = av_get_exact_bits_per_sample(par.codec_id)) {
        const double n_bits_per_s = double(n_bits) * par.sample_rate * par.ch_layout.nb_channels;
        estimated_s = std::min(estimated_s, double(input.size_bytes()) * 8 / n_bits_per_s);
    }
}

// Gives the decoder its next packet, or tells it that there are no more. Returns < 0 when it
// refused.
int Demuxer::State::feed() {
    for (;;) {
        const int status = av_read_frame(container.get(), packet.get());
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

Expected<std::unique_ptr<Demuxer>> Demuxer::open(FileInput& input, const std::string& path) {
    auto state = std::make_unique<State>(input, path);
    TRY(state->probe());
    TRY(state->open_container());
    TRY(state->pick_stream());
    TRY(state->open_decoder());
    return std::make_unique<Demuxer>(std::move(state));
}

Demuxer::Demuxer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Demuxer::~Demuxer() = default;

AVFrame* Demuxer::next() {
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

const std::string& Demuxer::format() const {
    return state_->format;
}
double Demuxer::promised_s() const {
    return state_->promised_s;
}
double Demuxer::estimated_s() const {
    return state_->estimated_s;
}
i64 Demuxer::n_missing_bytes() const {
    return state_->riff.n_missing_bytes;
}
int Demuxer::n_damaged() const {
    return state_->n_damaged;
}
const std::string& Demuxer::stopped_by() const {
    return state_->stopped_by;
}

}  // namespace transcribe
