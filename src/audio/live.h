// Sound while it comes, as 16 kHz mono samples: of a pipe or of a capture device. It is read once
// and forwards; what cannot be read so (an mp4 with its index at the end) is for AudioFile.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/audio_source.h"

namespace transcribe {

struct RawFormat {          // little-endian samples of one channel, without a header
    bool is_float = false;  // f32le, else s16le
    int rate_hz = sample_rate;
};

class LiveSound {
  public:
    // A path, or "-" for standard input: any container that can be read forwards, or raw samples.
    // Errors: not_found, bad_audio, io, out_of_memory.
    static Expected<std::unique_ptr<LiveSound>> open_pipe(const std::string& path,
                                                          const std::optional<RawFormat>& raw);
    // A capture device of FFmpeg: "KIND:NAME" ("alsa:hw:1"), a name of any kind that this system
    // has, or "" for its default. Errors: not_found (what was tried, and why it failed),
    // unsupported (libavdevice is not installed).
    static Expected<std::unique_ptr<LiveSound>> open_device(const std::string& device);
    ~LiveSound();

    // Appends the samples that come next, and waits for them; false is the end. Errors: bad_audio.
    Expected<bool> read(std::vector<float>& out);
    // Ends the waiting: the next read() gives the end. From any thread.
    void stop();
    const std::string& format() const;  // "WAV / WAVE (Waveform Audio), pcm_s16le"

    struct State;
    explicit LiveSound(std::unique_ptr<State> state);

  private:
    std::unique_ptr<State> state_;
};

}  // namespace transcribe
