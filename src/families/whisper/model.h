// Whisper as a family: a model file becomes a Model.
#pragma once

#include "asr/model.h"
#include "families/whisper/config.h"

namespace transcribe::whisper {

class WhisperModel : public Model {
  public:
    // Errors: bad_model (all faults of the file at once), out_of_memory, backend.
    static Expected<std::shared_ptr<const WhisperModel>> load(Loader& loader);
    explicit WhisperModel(std::shared_ptr<const Gguf> file) : weights_(std::move(file)) {}

    const ModelInfo& info() const override { return config_.info; }
    Expected<std::unique_ptr<Worker>> worker(Compute& compute,
                                             const WorkerOptions& options) const override;

    const Config& config() const { return config_; }
    const Net& net() const { return net_; }
    const Tokenizer& tokenizer() const { return *tokenizer_; }

  private:
    Status read(Loader& loader);

    Weights weights_;
    Net net_;
    Config config_;
    std::unique_ptr<const Tokenizer> tokenizer_;
    std::unique_ptr<const Mel> mel_;
};

// For the table of families.
Expected<std::shared_ptr<const Model>> load(Loader& loader);

}  // namespace transcribe::whisper
