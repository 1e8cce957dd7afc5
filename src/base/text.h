// Small helpers for bytes and UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace transcribe {

// The longest prefix of `bytes` that does not end inside a UTF-8 character.
size_t utf8_complete_prefix(std::string_view bytes);

// Valid UTF-8: each byte that is not part of a valid character becomes U+FFFD.
std::string utf8_repair(std::string_view bytes);

// For messages: control characters and invalid UTF-8 as \xNN, at most `n_max` bytes of input shown.
std::string printable(std::string_view bytes, size_t n_max = 200);

std::string_view trim(std::string_view text);

}  // namespace transcribe
