// Byte-level BPE as far as a converter needs it: merging, and the merges behind a vocabulary.
// Transcription uses text/bpe.h.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace transcribe {

// The place of the merge of two neighbours in the order of merging; nothing where there is none.
using MergeRank = std::function<std::optional<int>(const std::string& a, const std::string& b)>;

// The tokens of one spelled word: of all neighbours that merge, the first in rank merge first.
std::vector<std::string> merge_word(std::string_view word, const MergeRank& rank);

// The merges "a b" behind a vocabulary whose ids are in order of merging (as all byte-level ones
// are).
std::vector<std::string> derive_merges(const std::vector<std::string>& tokens);

}  // namespace transcribe
