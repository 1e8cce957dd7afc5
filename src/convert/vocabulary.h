// The tokenizer of a checkpoint, from whichever files it has: tokenizer.json; vocab.json,
// merges.txt, added_tokens.json and tokenizer_config.json; or CTranslate2's vocabulary.txt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"

namespace transcribe {

// How far the source is to be believed. Whisper's say too little: words in angle bars, <|like
// this|>, are control whatever the source says, and merges that it lacks are derived. Qwen's say
// all:
// <|fim_middle|> is text.
enum class Tokens { completed, as_stated };

struct SourceVocabulary {
    // The numbers are GGUF's.
    enum Type : std::int32_t { normal = 1, control = 3, user_defined = 4, hole = 0 };

    std::vector<std::string> tokens;  // pieces in GPT-2's byte alphabet; an added token as it reads
    std::vector<std::int32_t> types;  // `hole` where no file names the id
    std::vector<std::string> merges;  // "a b", in order of merging
    std::unordered_map<std::string, int> ids;

    std::optional<int> find(const std::string& piece) const;
    void set(int id, std::string piece, Type type);
    // Names the holes and makes it n_tokens long.
    void fill_holes(int n_tokens);
    // The merges behind a vocabulary whose ids are in order of merging, unless it has others.
    void complete_merges();
    // The first of the tokens that spell `bytes`, and their number; ids are ranks.
    std::pair<std::optional<int>, size_t> encode_first(std::string_view bytes) const;
};

// Errors: not_found, io, bad_model.
Expected<SourceVocabulary> read_vocabulary(const std::string& directory,
                                           Tokens tokens = Tokens::completed);

}  // namespace transcribe
