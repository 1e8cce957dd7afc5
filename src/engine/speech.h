// The parts of a recording where somebody speaks, as a recording of their own.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "asr/voice.h"

namespace transcribe {

// A detector and a machine of its own for it: one thread, since it is done with a second of sound
// in less than a millisecond.
class Listener {
  public:
    explicit Listener(std::shared_ptr<const VoiceDetector> detector);
    ~Listener();
    static Expected<std::unique_ptr<Listener>> make(std::shared_ptr<const VoiceDetector> detector);
    // Hears a recording from where it stands to its end. Errors: those of VoiceDetector::listen.
    Expected<SpeechTrack> track(AudioSource& audio);
    // Ends what is under way, and whatever comes before it is false again. From any thread.
    std::atomic<bool>& cancelled();

  private:
    std::shared_ptr<const VoiceDetector> detector_;
    std::unique_ptr<Compute> compute_;
};

// Only the given parts of another recording, one after another. Memory does not grow with it.
class SpeechSource : public AudioSource {
  public:
    // `whole` stands at its start. Parts in order, apart from each other; one may end after it.
    SpeechSource(AudioSource& whole, std::vector<TimeSpan> parts)
        : whole_(whole), parts_(std::move(parts)) {}
    // Errors: those of `whole`.
    Expected<size_t> read(std::span<float> out) override;
    Status rewind() override;

  private:
    // Reads past a pause; false where the recording ends in it.
    Expected<bool> skip_to(i64 sample);

    AudioSource& whole_;
    std::vector<TimeSpan> parts_;
    size_t part_ = 0;
    i64 at_ = 0;  // samples of `whole_` that were read
};

}  // namespace transcribe
