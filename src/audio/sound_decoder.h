// From an open container to decoded frames of its best audio stream (libavcodec).
//
// What bites: headers lie, so rates and channel counts are checked at the container and at each
// frame.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"

struct AVFormatContext;
struct AVFrame;
struct AVStream;

namespace transcribe {

constexpr int frame_rate_min_hz = 1000, frame_rate_max_hz = 768000;
constexpr int n_channels_max = 64;

class SoundDecoder {
  public:
    struct Source {
        AVFormatContext& container;      // must outlive the decoder
        std::string name;                // for messages
        std::string format;              // of the container
        bool is_wav_extensible = false;  // fmt chunk with the tag WAVE_FORMAT_EXTENSIBLE
    };
    // Errors: bad_audio (no sound, or none that can be decoded), out_of_memory.
    static Expected<std::unique_ptr<SoundDecoder>> open(const Source& source);
    ~SoundDecoder();

    // The next frame, valid until the next call; nullptr is the end. Damaged packets are skipped
    // and counted.
    AVFrame* next();

    const AVStream& stream() const;
    double duration_factor() const;         // corrects the stream's duration
    const std::string& format() const;      // "WAV / WAVE (Waveform Audio), pcm_s16le"
    int n_damaged() const;                  // packets and frames that could not be decoded
    const std::string& stopped_by() const;  // what ended the reading before the end, or empty

    struct State;
    explicit SoundDecoder(std::unique_ptr<State> state);

  private:
    std::unique_ptr<State> state_;
};

}  // namespace transcribe
