#include "families/canary_qwen/model.h"

#include <fmt/format.h>

#include <algorithm>

#include "families/canary_qwen/worker.h"

namespace transcribe::canary_qwen {

namespace {

// The first thing that the options ask for and this family does not have; null: nothing.
const char* lacking(const Options& options) {
    if (options.word_timestamps) return "times of words";
    if (!options.clips.empty() && !options.vad) {
        return "a choice of clips; give the part by its offset and duration";
    }
    if (options.beam_size > 1) return "a beam search";
    if (options.temperature > 0) return "temperatures above 0";
    if (!options.prefix.empty()) return "a prefix of the text";
    if (!options.hotwords.empty()) return "hotwords; name them in the initial prompt";
    if (options.suppress_tokens) return "suppressed tokens";
    if (options.detect_language_per_window) return "a choice of language";
    return nullptr;
}

}  // namespace

void Net::bind(Scope s, const Config& c) {
    enc.bind(s / "enc", c.audio);
    dec.bind(s / "dec", c.lm);
}

Dtype CanaryQwenModel::cache_dtype() const {
    return net_.dec.token_embd.dtype() == Dtype::f32 ? Dtype::f32 : Dtype::f16;
}

Status CanaryQwenModel::read(Loader& loader) {
    TRY_SET(tokenizer_, read_tokenizer(loader));
    config_ = read_config(loader.keys(), *tokenizer_);
    TRY(loader.problems.done(Code::bad_model, loader.file->path()));

    net_.bind(weights_.root(), config_);
    read_mel_tables(weights_, config_.audio.mel);
    TRY(weights_.finish(loader.device, loader.packer));
    config_.info.n_params = weights_.n_params();
    config_.info.device = loader.device.name();
    config_.info.rounding = loader.rounding;
    mel_ = std::make_unique<const Mel>(config_.audio.mel);
    return {};
}

Status CanaryQwenModel::check(const Options& options) const {
    const char* what = lacking(options);
    if (!what) return {};
    return Error{Code::unsupported,
                 fmt::format("the model {} does not have {}", config_.info.name, what)};
}

Expected<std::unique_ptr<Worker>> CanaryQwenModel::worker(Compute& compute,
                                                          const WorkerOptions& options) const {
    return std::unique_ptr<Worker>(std::make_unique<CanaryQwenWorker>(compute, *this, options));
}

Expected<std::shared_ptr<const CanaryQwenModel>> CanaryQwenModel::load(Loader& loader) {
    auto model = std::make_shared<CanaryQwenModel>(loader.file);
    TRY(model->read(loader));
    return std::shared_ptr<const CanaryQwenModel>(std::move(model));
}

Expected<std::shared_ptr<const Model>> load(Loader& loader) {
    TRY_SET(auto model, CanaryQwenModel::load(loader));
    return std::shared_ptr<const Model>(std::move(model));
}

}  // namespace transcribe::canary_qwen
