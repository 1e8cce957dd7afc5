// Silero VAD as a family: a model file becomes a VoiceDetector.
#pragma once

#include "asr/voice.h"
#include "families/silero/lstm.h"
#include "families/silero/net.h"

namespace transcribe::silero {

class SileroDetector : public VoiceDetector {
  public:
    explicit SileroDetector(std::shared_ptr<const Gguf> file) : weights_(std::move(file)) {}
    // Errors: bad_model (all faults of the file at once), out_of_memory, backend.
    Status read(Loader& loader);

    const ModelInfo& info() const override { return info_; }
    Expected<SpeechTrack> listen(AudioSource& audio, Compute& compute) const override;

  private:
    Weights weights_;
    NetConfig config_;
    Net net_;
    LstmWeights lstm_;
    std::vector<float> window_;  // [n_fft]
    ModelInfo info_;
};

// For the table of families.
Expected<std::shared_ptr<const VoiceDetector>> load(Loader& loader);

}  // namespace transcribe::silero
