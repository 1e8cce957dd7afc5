// From the bytes of a file to decoded frames of its best audio stream (libavformat, libavcodec).
//
// One Demuxer is one pass over the file: a new one is made to start again, since seeking to the
// start is not exact in every container. Nothing but the given bytes can be read: a playlist, an
// external reference or an address inside the file finds no protocol and no second file.
#pragma once

#include <memory>
#include <string>

#include "audio/file_input.h"

struct AVFrame;

namespace transcribe {

class Demuxer {
  public:
    // `path` serves messages and the guess of the format only.
    static Expected<std::unique_ptr<Demuxer>> open(FileInput& input, const std::string& path);
    ~Demuxer();

    // The next frame, valid until the next call; nullptr is the end. Damaged packets are skipped
    // and counted.
    AVFrame* next();

    const std::string& format() const;  // "WAV / WAVE (Waveform Audio), pcm_s16le"
    double promised_s() const;          // by the header; 0 where it does not say
    double estimated_s() const;         // the header's word, held against the size of the file; 0
    i64 n_missing_bytes() const;        // by how much the file is shorter than its header says
    int n_damaged() const;              // packets and frames that could not be decoded
    const std::string& stopped_by() const;  // what ended the reading before the end, or empty

    struct State;
    explicit Demuxer(std::unique_ptr<State> state);

  private:
    std::unique_ptr<State> state_;
};

}  // namespace transcribe
