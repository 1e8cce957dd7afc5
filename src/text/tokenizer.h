// Text <-> token ids. Every model file carries its own tokenizer (spec: tokenizer.ggml.*).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace transcribe {

// What a model file says about its tokens (GGUF keys tokenizer.ggml.*).
struct Vocabulary {
    std::string model;                // "gpt2": byte-level BPE
    std::string pre;                  // pre-tokenizer: "gpt2" (also ""), "qwen2"
    std::vector<std::string> tokens;  // pieces in the GPT-2 byte alphabet; specials as they are
    std::vector<int> types;           // 1 normal, 3 control; may be empty
    std::vector<std::string> merges;  // "left right", by rank
};

class Tokenizer {
  public:
    static Expected<std::unique_ptr<const Tokenizer>> make(Vocabulary);
    virtual ~Tokenizer() = default;
    virtual int n_tokens() const = 0;
    // Plain text to ids. Markers such as "<|endoftext|>" are text, never control tokens.
    virtual std::vector<int> encode(std::string_view text) const = 0;
    // The raw bytes of one token (empty for control tokens). Characters may be split over tokens:
    // join before showing.
    virtual std::string_view bytes(int id) const = 0;
    // Joined bytes; control tokens give nothing.
    virtual std::string decode(const std::vector<int>& ids) const = 0;
    // The id of a piece as it stands in the file ("<|en|>"), or -1.
    virtual int find(std::string_view piece) const = 0;
    virtual bool is_control(int id) const = 0;
};

}  // namespace transcribe
