// What bites: libavformat likes to look far ahead, which for sound that is being spoken is waiting;
// so it may look at half a second only, and at nothing where the format is known.
#include "audio/live.h"

#include <fmt/format.h>

#include <utility>

#include "audio/av.h"
#include "audio/capture.h"
#include "audio/downmix.h"
#include "audio/file_input.h"
#include "audio/sound_decoder.h"
#include "base/text.h"

namespace transcribe {

namespace {

// Small, so that no byte waits for others: 64 ms of raw 16-bit samples at 16 kHz.
constexpr int n_io_buffer_bytes = 2048;
constexpr std::int64_t look_ahead_us = 500000;

int read_bytes(void* opaque, std::uint8_t* out, int n) {
    const int got = static_cast<PipeInput*>(opaque)->read(out, n);
    return got > 0 ? got : got == 0 ? AVERROR_EOF : AVERROR(EIO);
}

int is_stopped(void* opaque) {
    return static_cast<std::atomic<bool>*>(opaque)->load();
}

av::Settings settings_of(const RawFormat& raw) {
    AVDictionary* settings = nullptr;
    av_dict_set_int(&settings, "sample_rate", raw.rate_hz, 0);
    return av::Settings(settings);  // one channel is its default
}

}  // namespace

// Members in the order of their making: the container must go before its reader.
struct LiveSound::State {
    std::string name;
    std::atomic<bool> stopped = false;
    std::unique_ptr<PipeInput> pipe;  // none of a device
    av::Io io;
    av::Container container;
    std::unique_ptr<SoundDecoder> decoder;
    Downmix downmix;
    std::vector<std::int16_t> mixed;
    bool ended = false;

    Error fault(const std::string& what) const { return {Code::bad_audio, name + ": " + what}; }
    Expected<const AVInputFormat*> open_io(const std::optional<RawFormat>& raw);
    Status open(const AVInputFormat* kind, const std::string& url, av::Settings settings);
    Status open_decoder(bool is_known);
};

Expected<const AVInputFormat*> LiveSound::State::open_io(const std::optional<RawFormat>& raw) {
    auto* buffer = static_cast<unsigned char*>(av_malloc(n_io_buffer_bytes));
    io.reset(
        avio_alloc_context(buffer, n_io_buffer_bytes, 0, pipe.get(), read_bytes, nullptr, nullptr));
    if (!buffer || !io) return Error{Code::out_of_memory, "no memory left to read audio"};
    if (raw) return av_find_input_format(raw->is_float ? "f32le" : "s16le");
    const AVInputFormat* kind = nullptr;
    const int status = av_probe_input_buffer2(io.get(), &kind, "", nullptr, 0, 0);
    if (status >= 0) return kind;
    return fault(
        fmt::format("the stream is in no known format ({}); of raw samples --raw-format "
                    "says the format",
                    av::reason(status)));
}

Status LiveSound::State::open(const AVInputFormat* kind, const std::string& url,
                              av::Settings settings) {
    AVFormatContext* opened = avformat_alloc_context();
    if (!opened) return Error{Code::out_of_memory, "no memory left to read audio"};
    opened->interrupt_callback = {is_stopped, &stopped};
    opened->max_analyze_duration = look_ahead_us;
    opened->flags |= AVFMT_FLAG_NOBUFFER;
    if (io) {
        opened->pb = io.get();
        opened->io_open = av::refuse_open;
        opened->protocol_whitelist = av_strdup("none");
    }
    AVDictionary* left = settings.release();
    const int status = avformat_open_input(&opened, url.c_str(), kind, &left);  // frees on failure
    settings.reset(left);
    if (status < 0) return fault(av::reason(status));
    container.reset(opened);
    return {};
}

Status LiveSound::State::open_decoder(bool is_known) {
    if (!is_known) {
        const int status = avformat_find_stream_info(container.get(), nullptr);
        if (status < 0) return fault("its streams cannot be read: " + av::reason(status));
    }
    const AVInputFormat& kind = *container->iformat;
    TRY_SET(decoder, SoundDecoder::open({.container = *container,
                                         .name = name,
                                         .format = kind.long_name ? kind.long_name : kind.name}));
    return {};
}

Expected<std::unique_ptr<LiveSound>> LiveSound::open_pipe(const std::string& path,
                                                          const std::optional<RawFormat>& raw) {
    av::silence();
    auto state = std::make_unique<State>();
    state->name = input_name(path);
    TRY_SET(state->pipe, PipeInput::open(path));
    TRY_SET(const AVInputFormat* kind, state->open_io(raw));
    TRY(state->open(kind, "", raw ? settings_of(*raw) : nullptr));
    TRY(state->open_decoder(raw.has_value()));
    return std::make_unique<LiveSound>(std::move(state));
}

Expected<std::unique_ptr<LiveSound>> LiveSound::open_device(const std::string& device) {
    av::silence();
    TRY_SET(const auto candidates, capture_devices(device));
    std::string tried;
    for (const CaptureDevice& each : candidates) {
        auto state = std::make_unique<State>();
        state->name = fmt::format("{}:{}", each.kind->name, printable(each.name));
        const Status opened = state->open(each.kind, each.name, nullptr);
        if (opened) {
            TRY(state->open_decoder(true));
            return std::make_unique<LiveSound>(std::move(state));
        }
        tried += (tried.empty() ? "" : "; ") + opened.error().what;
    }
    return Error{Code::not_found, fmt::format("no microphone can be opened ({}); --live-device "
                                              "KIND:NAME names one",
                                              tried)};
}

LiveSound::LiveSound(std::unique_ptr<State> state) : state_(std::move(state)) {}
LiveSound::~LiveSound() = default;

Expected<bool> LiveSound::read(std::vector<float>& out) {
    State& s = *state_;
    s.mixed.clear();
    while (!s.ended && s.mixed.empty()) {
        AVFrame* frame = s.stopped ? nullptr : s.decoder->next();
        s.ended = frame == nullptr;
        const Status mixed = frame ? s.downmix.push(frame, s.mixed) : s.downmix.drain(s.mixed);
        if (!mixed) return s.fault(mixed.error().what);
    }
    for (const std::int16_t sample : s.mixed) {
        out.push_back(static_cast<float>(sample) / 32768.0f);
    }
    return !s.ended || !s.mixed.empty();
}

void LiveSound::stop() {
    state_->stopped = true;
    if (state_->pipe) state_->pipe->stop();
}

const std::string& LiveSound::format() const {
    return state_->decoder->format();
}

}  // namespace transcribe
