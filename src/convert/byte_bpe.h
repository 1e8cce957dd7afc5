// Byte-level BPE as far as a converter needs it: the alphabet that spells bytes as printable
// characters, and merging. Transcription uses text/bpe.h.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace transcribe {

// The bytes in GPT-2's alphabet: printable Latin-1 stands for itself, the rest from U+0100 on.
std::string spell_bytes(std::string_view bytes);

// The place of the merge of two neighbours in the order of merging; nothing where there is none.
using MergeRank = std::function<std::optional<int>(const std::string& a, const std::string& b)>;

// The tokens of one spelled word: of all neighbours that merge, the first in rank merge first.
std::vector<std::string> merge_word(std::string_view word, const MergeRank& rank);

// The merges "a b" behind a vocabulary whose ids are in order of merging (as all byte-level ones
// are).
std::vector<std::string> derive_merges(const std::vector<std::string>& tokens);

}  // namespace transcribe
