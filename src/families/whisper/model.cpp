#include "families/whisper/model.h"

#include "families/whisper/worker.h"

namespace transcribe::whisper {

namespace {

class WhisperModel : public Model {
  public:
    explicit WhisperModel(std::shared_ptr<const Gguf> file) : weights_(std::move(file)) {}

    Status read(Loader& loader) {
        KvReader kv = loader.keys();
        Vocabulary vocabulary = read_vocabulary(kv.at("tokenizer.ggml"));
        TRY(loader.problems.done(Code::bad_model, loader.file->path()));
        TRY_SET(tokenizer_, Tokenizer::make(std::move(vocabulary)));
        config_ = read_config(kv, *tokenizer_);
        TRY(loader.problems.done(Code::bad_model, loader.file->path()));
        net_.bind(weights_.root(), config_.net);
        i64 n_bins = config_.mel.n_fft / 2 + 1;
        config_.mel.filters =
            weights_.host_copy("frontend.mel_filterbank", {n_bins, config_.mel.n_mels});
        config_.mel.window = weights_.host_copy("frontend.window", {config_.mel.n_fft});
        TRY(weights_.finish(loader.device));
        config_.info.n_params = weights_.n_params();
        config_.info.device = loader.device.name();
        mel_ = std::make_unique<const Mel>(config_.mel);
        return {};
    }

    const ModelInfo& info() const override { return config_.info; }

    Expected<std::unique_ptr<Worker>> worker(Compute& compute, int batch_size) const override {
        TRY_SET(auto decoder, WindowDecoder::make(compute, net_, config_, batch_size));
        return std::unique_ptr<Worker>(std::make_unique<WhisperWorker>(
            LongForm::Facts{config_, *tokenizer_, *mel_}, std::move(decoder), batch_size));
    }

  private:
    Weights weights_;
    Net net_;
    Config config_;
    std::unique_ptr<const Tokenizer> tokenizer_;
    std::unique_ptr<const Mel> mel_;
};

}  // namespace

Expected<std::shared_ptr<const Model>> load(Loader& loader) {
    auto model = std::make_shared<WhisperModel>(loader.file);
    TRY(model->read(loader));
    return std::shared_ptr<const Model>(std::move(model));
}

}  // namespace transcribe::whisper
