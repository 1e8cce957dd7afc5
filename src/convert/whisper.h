// Whisper checkpoints, of any size and any fine-tune of the architecture: names, sizes and tokens
// of the sources' spelling to ours (docs/families/whisper.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "convert/checkpoint.h"
#include "convert/model_plan.h"
#include "convert/vocabulary.h"

namespace transcribe {

struct WhisperConfig {
    struct Side {
        int n_layers = 0, n_heads = 0, ffn_dim = 0;
    };
    Side encoder, decoder;
    int d_model = 0, n_mels = 0, n_vocab = 0;
    int n_source_positions = 0, n_target_positions = 0;
};

struct WhisperTokens {
    SourceVocabulary vocabulary;
    int end_of_text = 0, start = 0, no_timestamps = 0;
    std::optional<int> transcribe, translate, previous;
    std::vector<int> suppress, begin_suppress;
    std::vector<int> alignment_heads;    // pairs of layer and head, flat
    std::vector<std::string> languages;  // in order of their tokens
};

// All Errors: not_found, io, bad_model, unsupported.
Expected<WhisperConfig> read_whisper_config(const Checkpoint&);
Expected<WhisperTokens> read_whisper_tokens(const Checkpoint&, const WhisperConfig&);
// [201, n_mels]; empty where the source has none.
Expected<std::vector<float>> read_whisper_filters(const Checkpoint&, int n_mels);
// The tensors of the file; each tensor of the source must have found its place. Without filters
// they are those that Whisper was trained with.
Expected<std::vector<PlannedTensor>> plan_whisper_tensors(const Checkpoint&, const WhisperConfig&,
                                                          std::vector<float> filters);
// The whole file of what was read.
ModelPlan whisper_plan(const std::string& name, const WhisperConfig&, WhisperTokens,
                       std::vector<PlannedTensor>);
Expected<ModelPlan> plan_whisper(const Checkpoint&, const std::string& name);

// What follows from the vocabulary (convert/whisper_rules.cpp): the pieces of the timestamps from
// `first` on, the tokens that no text begins with, and those that are not speech.
void name_timestamps(SourceVocabulary&, int first, int n_vocab);
std::vector<int> blank_tokens(const WhisperTokens&);
std::vector<int> not_spoken_tokens(const WhisperTokens&);

}  // namespace transcribe
