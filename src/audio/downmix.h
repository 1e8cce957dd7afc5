// Decoded frames of any layout to 16 kHz mono 16-bit samples (libswresample), as the ffmpeg command
// mixes them: the default weights of each layout, one conversion, no dither.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"

struct AVFrame;

namespace transcribe {

class Downmix {
  public:
    Downmix();
    ~Downmix();
    // Appends the samples that `frame` completes. The frame's samples may be changed. Errors:
    // bad_audio (a layout or format that cannot be mixed), without the file's name.
    Status push(AVFrame* frame, std::vector<std::int16_t>& out);
    // Appends what the resampler still holds.
    Status drain(std::vector<std::int16_t>& out);
    // True when two channels in opposite phase were met and the first was used in place of their
    // mix.
    bool cancelled() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace transcribe
