// Cuts text into the words that byte-level BPE works in. The rules are those of the regular
// expressions in the tokenizers' files, as plain code over character classes:
//
//   gpt2:  's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//   qwen2: (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*
//          |\s*[\r\n]+|\s+(?!\S)|\s+
//
// Each byte of the text is in exactly one word. A byte that is not UTF-8 counts as a symbol.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace transcribe {

enum class WordRules { gpt2, qwen2 };

// The words are views into `text`.
std::vector<std::string_view> split_words(std::string_view text, WordRules rules);

// Unicode normalization form C; text that is not UTF-8 stays as it is.
std::string normalize_nfc(std::string_view text);

}  // namespace transcribe
