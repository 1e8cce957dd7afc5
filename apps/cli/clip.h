// A part of a recording (--offset, --duration) that the engine takes for a whole one, and the way
// back: times that count from the recording's start.
#pragma once

#include "asr/types.h"
#include "base/audio_source.h"
#include "cli/args.h"

namespace transcribe::cli {

class ClipSource : public AudioSource {
  public:
    ClipSource(AudioSource& whole, const Clip& clip);
    // Errors: those of `whole`; bad_audio where the recording ends before the clip begins.
    Expected<size_t> read(std::span<float> out) override;
    Status rewind() override;

  private:
    Status skip_to_start();

    AudioSource& whole_;
    i64 n_skip_;
    i64 n_clip_;  // samples of the clip, at most
    i64 at_ = 0;  // samples of the clip that were read
    bool skipped_ = false;
};

void shift(Segment& segment, const Clip& clip);
// The duration becomes that from the recording's start to the end of the clip.
void shift(Transcript& transcript, const Clip& clip);

}  // namespace transcribe::cli
