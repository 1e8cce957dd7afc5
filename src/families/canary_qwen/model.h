// Canary-Qwen as a family: a model file becomes a Model.
#pragma once

#include "asr/model.h"
#include "families/canary_qwen/config.h"
#include "families/canary_qwen/encoder.h"

namespace transcribe::canary_qwen {

struct Net {
    EncoderNet enc;
    CausalLm dec;
    void bind(Scope s, const Config& c);
};

class CanaryQwenModel : public Model {
  public:
    // Errors: bad_model (all faults of the file at once), out_of_memory, backend.
    static Expected<std::shared_ptr<const CanaryQwenModel>> load(Loader& loader);
    explicit CanaryQwenModel(std::shared_ptr<const Gguf> file) : weights_(std::move(file)) {}

    const ModelInfo& info() const override { return config_.info; }
    Status check(const Options& options) const override;
    Expected<std::unique_ptr<Worker>> worker(Compute& compute,
                                             const WorkerOptions& options) const override;

    const Config& config() const { return config_; }
    const Tokenizer& tokenizer() const { return *tokenizer_; }
    const Mel& mel() const { return *mel_; }
    const Net& net() const { return net_; }
    // Caches as exact as the weights they are read with.
    Dtype cache_dtype() const;

  private:
    Status read(Loader& loader);

    Config config_;
    std::unique_ptr<const Tokenizer> tokenizer_;
    std::unique_ptr<const Mel> mel_;
    Weights weights_;
    Net net_;
};

// For the table of families.
Expected<std::shared_ptr<const Model>> load(Loader& loader);

}  // namespace transcribe::canary_qwen
