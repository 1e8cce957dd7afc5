// Which words of a recording that goes on are final: plain arithmetic on words, no model.
//
// A growing window is decoded again and again. What two decodings in a row say alike is final
// (local agreement, Liu et al. 2020, https://arxiv.org/abs/2005.11185); each decoding begins with
// what was final before, give or take a word.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "asr/types.h"

namespace transcribe {

// A word as it is spoken: without case, punctuation and blanks.
std::string spoken(std::string_view word);

// How many words at the start of `heard` say again what `said` says; by text, and where that leaves
// a doubt by time.
size_t n_repeated(std::span<const Word> said, std::span<const Word> heard);

// How many words at the start are alike as spoken.
size_t n_agreed(std::span<const Word> a, std::span<const Word> b);

// Words to replace, add or leave out between the two, as spoken.
size_t n_different(std::span<const Word> a, std::span<const Word> b);

}  // namespace transcribe
