// Any audio or video file, or a stream, as 16 kHz mono samples (FFmpeg's libraries).
//
// Samples are what `ffmpeg -i FILE -f s16le -ac 1 -ar 16000` gives, divided by 32768: the reference
// reads audio that way, and 16-bit rounding is part of its numbers. Memory does not grow with the
// length of the file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/audio_source.h"

namespace transcribe {

class AudioFile : public AudioSource {
  public:
    // A path, or "-" for standard input (copied to an unlinked temporary file first, because some
    // containers can only be read with seeking). Errors name the file, what was detected and why it
    // cannot be read: not_found, bad_audio, io.
    static Expected<std::unique_ptr<AudioFile>> open(const std::string& path);
    // Faults that did not stop the reading ("the file is cut: ..."), in sentences; filled while
    // reading.
    virtual const std::vector<std::string>& warnings() const = 0;
    // Length by the container in seconds, or 0 where it does not say (or says nonsense).
    virtual double duration_hint() const = 0;
};

}  // namespace transcribe
