// The keys of a Whisper file (docs/families/whisper.md): scalars first, the vocabulary last.
#include "convert/whisper.h"

#include "convert/alignment_heads.h"
#include "convert/plan_keys.h"

namespace transcribe {

namespace {

std::vector<GgufKey> general_keys(const std::string& name, const std::string& label,
                                  const WhisperTokens& tokens) {
    bool many = tokens.languages.size() > 1;
    Keys keys;
    keys.set("general.architecture", "whisper");
    keys.set("general.name", name);
    keys.set("general.basename", "whisper");
    keys.set("general.size_label", label);
    keys.set("general.license", "apache-2.0");
    keys.set("general.languages", tokens.languages);
    keys.set("stt.variant", name);
    keys.set("stt.capability.lang_detect", many);
    keys.set("stt.capability.translate", many);
    keys.set("stt.capability.streaming", false);
    keys.set("stt.capability.timestamps", true);
    if (many) keys.set("stt.translation.target_languages", std::vector<std::string>{"en"});
    return keys.list;
}

std::vector<GgufKey> size_keys(const WhisperConfig& c) {
    Keys keys("stt.whisper.");
    auto side = [&](const std::string& name, const WhisperConfig::Side& s) {
        auto set = [&](const char* leaf, auto value) { keys.set(name + leaf, value); };
        set(".n_layers", s.n_layers);
        set(".d_model", c.d_model);
        set(".n_heads", s.n_heads);
        set(".ffn_dim", s.ffn_dim);
        set(".activation", "gelu");
    };
    side("encoder", c.encoder);
    keys.set("encoder.num_mel_bins", c.n_mels);
    keys.set("encoder.max_source_positions", c.n_source_positions);
    side("decoder", c.decoder);
    keys.set("decoder.max_target_positions", c.n_target_positions);
    keys.set("decoder.vocab_size", c.n_vocab);
    keys.set("decoder.tie_word_embeddings", true);
    keys.set("decoder.scale_embedding", false);
    return keys.list;
}

std::vector<GgufKey> token_keys(const WhisperTokens& t) {
    Keys keys("stt.whisper.");
    keys.set("decoder_start_token_id", t.start);
    keys.set("sot_token_id", t.start);
    keys.set("no_timestamps_token_id", t.no_timestamps);
    keys.set("transcribe_token_id", t.transcribe);
    keys.set("translate_token_id", t.translate);
    keys.set("prev_sot_token_id", t.previous);
    keys.set_ids("suppress_tokens", t.suppress);
    keys.set_ids("begin_suppress_tokens", t.begin_suppress);
    keys.set_ids("alignment_heads", t.alignment_heads);
    return keys.list;
}

std::vector<GgufKey> frontend_keys(int n_mels) {
    Keys keys("stt.frontend.");
    keys.set("type", "mel");
    keys.set("num_mels", n_mels);
    keys.set("sample_rate", 16000);
    keys.set("n_fft", 400);
    keys.set("win_length", 400);
    keys.set("hop_length", 160);
    keys.set("window", "hann_periodic");
    keys.set("normalize", "whisper_logmel");
    keys.set("dither", 0.0f);
    keys.set("pre_emphasis", 0.0f);
    keys.set("f_min", 0.0f);
    keys.set("f_max", 8000.0f);
    keys.set("pad_mode", "reflect");
    keys.set("center", true);
    keys.set("mel_norm", "slaney");
    keys.set("chunk_length", 30);
    keys.set("n_samples", 480000);
    keys.set("nb_max_frames", 3000);
    return keys.list;
}

std::vector<GgufKey> tokenizer_keys(const WhisperTokens& t) {
    Keys keys("tokenizer.ggml.");
    keys.set("model", "gpt2");
    keys.set("pre", "gpt2");
    keys.set("bos_token_id", t.end_of_text);
    keys.set("eos_token_id", t.end_of_text);
    keys.set("padding_token_id", t.end_of_text);
    keys.set("add_bos_token", false);
    return keys.list;
}

std::vector<GgufKey> vocabulary_keys(SourceVocabulary vocabulary) {
    Keys keys("tokenizer.ggml.");
    keys.set("tokens", std::move(vocabulary.tokens));
    keys.set("token_type", std::move(vocabulary.types));
    keys.set("merges", std::move(vocabulary.merges));
    return keys.list;
}

}  // namespace

ModelPlan whisper_plan(const std::string& name, const WhisperConfig& config, WhisperTokens tokens,
                       std::vector<PlannedTensor> tensors) {
    if (tokens.alignment_heads.empty()) tokens.alignment_heads = openai_alignment_heads(config);
    ModelPlan plan;
    plan.name = name.find("whisper") == std::string::npos ? "whisper-" + name : name;
    plan.tensors = std::move(tensors);
    plan.reference = reference_dtype(plan.tensors);
    for (auto&& part :
         {general_keys(plan.name, size_label(plan.tensors), tokens), size_keys(config),
          token_keys(tokens), frontend_keys(config.n_mels), tokenizer_keys(tokens)}) {
        plan.keys.insert(plan.keys.end(), part.begin(), part.end());
    }
    plan.bulk_keys = vocabulary_keys(std::move(tokens.vocabulary));
    return plan;
}

Expected<ModelPlan> plan_whisper(const Checkpoint& from, const std::string& name) {
    TRY_SET(auto config, read_whisper_config(from));
    TRY_SET(auto filters, read_whisper_filters(from, config.n_mels));
    TRY_SET(auto tensors, plan_whisper_tensors(from, config, std::move(filters)));
    TRY_SET(auto tokens, read_whisper_tokens(from, config));
    return whisper_plan(name, config, std::move(tokens), std::move(tensors));
}

}  // namespace transcribe
