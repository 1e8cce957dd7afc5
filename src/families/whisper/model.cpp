#include "families/whisper/model.h"

#include "families/model_keys.h"
#include "families/whisper/worker.h"

namespace transcribe::whisper {

Status WhisperModel::read(Loader& loader) {
    KvReader kv = loader.keys();
    const std::string& path = loader.file->path();
    // Without merges, on purpose: the reference (tiktoken) takes a token's id as its rank, and some
    // published tokenizer files lack a merge.
    TRY_SET(tokenizer_, make_tokenizer(vocabulary_of(kv.at("tokenizer.ggml"), "gpt2"), loader));
    config_ = read_config(kv, *tokenizer_);
    TRY(loader.problems.done(Code::bad_model, path));

    net_.bind(weights_.root(), config_.net);
    i64 n_bins = config_.mel.n_fft / 2 + 1;
    config_.mel.filters =
        weights_.host_copy("frontend.mel_filterbank", {n_bins, config_.mel.n_mels});
    config_.mel.window = weights_.host_copy("frontend.window", {config_.mel.n_fft});
    TRY(weights_.finish(loader.device, loader.packer));
    config_.info.n_params = weights_.n_params();
    config_.info.device = loader.device.name();
    config_.info.rounding = loader.rounding;
    mel_ = std::make_unique<const Mel>(config_.mel);
    return {};
}

Expected<std::unique_ptr<Worker>> WhisperModel::worker(Compute& compute,
                                                       const WorkerOptions& options) const {
    TRY_SET(auto decoder, WindowDecoder::make(compute, net_, config_));
    return std::unique_ptr<Worker>(std::make_unique<WhisperWorker>(
        Facts{config_, *tokenizer_, *mel_}, std::move(decoder), options.batch_size));
}

Expected<std::shared_ptr<const WhisperModel>> WhisperModel::load(Loader& loader) {
    auto model = std::make_shared<WhisperModel>(loader.file);
    TRY(model->read(loader));
    return std::shared_ptr<const WhisperModel>(std::move(model));
}

Expected<std::shared_ptr<const Model>> load(Loader& loader) {
    TRY_SET(auto model, WhisperModel::load(loader));
    return std::shared_ptr<const Model>(std::move(model));
}

}  // namespace transcribe::whisper
