// Opening a container over our own reader.
//
// What bites: libavformat opens further files by itself (playlists, references), so io_open refuses
// and no protocol is allowed.
#include "audio/demux.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "audio/av.h"
#include "audio/riff.h"
#include "audio/sound_decoder.h"

namespace transcribe {
namespace {

constexpr int n_io_buffer_bytes = 1 << 16;

using av::reason;

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

}  // namespace

// Members in the order of their making: the container must go before its reader.
struct Demuxer::State {
    State(FileInput& i, const std::string& p) : input(i), name(input_name(p)), path(p) {}

    FileInput& input;
    const std::string name, path;
    const AVInputFormat* kind = nullptr;
    av::Io io;
    av::Container container;
    std::unique_ptr<SoundDecoder> decoder;
    double promised_s = 0, estimated_s = 0;
    RiffFacts riff;

    std::string kind_name() const { return kind->long_name ? kind->long_name : kind->name; }
    Error fault(const std::string& what) const { return {Code::bad_audio, name + ": " + what}; }
    static Error no_memory() { return {Code::out_of_memory, "no memory left to read audio"}; }
    Status probe();
    Status open_container();
    Status open_decoder();
    void note_durations();
};

// Finds out what the file is, by its bytes (and its name where those leave a doubt).
Status Demuxer::State::probe() {
    if (input.size_bytes() == 0) return fault("is empty (0 bytes)");
    riff = read_riff_facts(input);
    input.position = 0;
    auto* buffer = static_cast<unsigned char*>(av_malloc(n_io_buffer_bytes));
    io.reset(
        avio_alloc_context(buffer, n_io_buffer_bytes, 0, &input, read_bytes, nullptr, seek_bytes));
    if (!buffer || !io) return no_memory();
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
    opened->io_open = av::refuse_open;
    opened->protocol_whitelist = av_strdup("none");
    const std::string format = kind_name();
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

Status Demuxer::State::open_decoder() {
    TRY_SET(decoder, SoundDecoder::open({.container = *container,
                                         .name = name,
                                         .format = kind_name(),
                                         .is_wav_extensible = riff.is_extensible}));
    note_durations();
    return {};
}

void Demuxer::State::note_durations() {
    const AVStream& stream = decoder->stream();
    const bool from_stream = stream.duration > 0;
    if (from_stream) {
        estimated_s =
            double(stream.duration) * av_q2d(stream.time_base) * decoder->duration_factor();
    } else if (container->duration > 0) {
        estimated_s = double(container->duration) / AV_TIME_BASE;
    }
    // A guess by the bit rate is no promise, nor is the length of a film that of its sound.
    const bool guessed = container->duration_estimation_method == AVFMT_DURATION_FROM_BITRATE;
    if (!guessed && (from_stream || container->nb_streams == 1)) promised_s = estimated_s;
    const AVCodecParameters& par = *stream.codecpar;
    if (const int n_bits = av_get_exact_bits_per_sample(par.codec_id)) {
        const double n_bits_per_s = double(n_bits) * par.sample_rate * par.ch_layout.nb_channels;
        estimated_s = std::min(estimated_s, double(input.size_bytes()) * 8 / n_bits_per_s);
    }
}

Expected<std::unique_ptr<Demuxer>> Demuxer::open(FileInput& input, const std::string& path) {
    auto state = std::make_unique<State>(input, path);
    TRY(state->probe());
    TRY(state->open_container());
    TRY(state->open_decoder());
    return std::make_unique<Demuxer>(std::move(state));
}

Demuxer::Demuxer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Demuxer::~Demuxer() = default;

AVFrame* Demuxer::next() {
    return state_->decoder->next();
}
const std::string& Demuxer::format() const {
    return state_->decoder->format();
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
    return state_->decoder->n_damaged();
}
const std::string& Demuxer::stopped_by() const {
    return state_->decoder->stopped_by();
}

}  // namespace transcribe
