// Canary-Qwen checkpoints (NeMo's SALM as it stands on a hub): config.json and model.safetensors;
// sizes and tokenizer of the language model come from another directory. The mapping to our names
// is in docs/families/canary_qwen.md.
//
// What bites: filterbank and window are taken from the checkpoint, which has them rounded to BF16
// as the model knows them. The language model's q and v are stored as a base and two thin matrices
// (LoRA), whose product must be added.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "convert/checkpoint.h"
#include "convert/model_plan.h"
#include "convert/vocabulary.h"

namespace transcribe {

struct CanaryQwenConfig {
    // Encoder.
    int n_layers = 0, d = 0, n_heads = 0, d_ff = 0, kernel = 0, n_channels = 0;
    int n_positions_max = 0;  // of the reference's table, which we compute
    // Language model.
    struct Lm {
        int n_layers = 0, d = 0, d_ff = 0, n_heads = 0, n_kv_heads = 0, d_head = 0;
        int n_positions = 0, n_vocab = 0;
        float eps = 0, rope_theta = 0;
    };
    Lm lm;
    float pre_emphasis = 0;
    float lora_scale = 0;   // alpha / r; 0 where the config has no LoRA
    std::string audio_tag;  // the token that audio takes the place of
};

struct CanaryQwenTokens {
    SourceVocabulary vocabulary;
    int end_of_text = 0, padding = 0, audio = 0;
    std::string chat_template;  // may be empty
};

// Where config and tokenizer of the language model are: where the caller says, else llm_backbone/,
// else beside the model. Errors: not_found.
Expected<std::string> canary_qwen_lm_directory(const Checkpoint&);
// All Errors: not_found, io, bad_model, unsupported.
Expected<CanaryQwenConfig> read_canary_qwen_config(const Checkpoint&, const std::string& lm);
Expected<CanaryQwenTokens> read_canary_qwen_tokens(const std::string& lm, const CanaryQwenConfig&);
// Each tensor of the source must have found its place.
Expected<std::vector<PlannedTensor>> plan_canary_qwen_tensors(const Checkpoint&,
                                                              const CanaryQwenConfig&);
Expected<ModelPlan> plan_canary_qwen(const Checkpoint&, const std::string& name);

}  // namespace transcribe
