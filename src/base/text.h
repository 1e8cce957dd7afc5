// Small helpers for bytes and UTF-8. Invalid bytes are data here, never a fault: tokens split
// characters, and files hold anything.
#pragma once

#include <string>
#include <string_view>

namespace transcribe {

// The longest prefix of `bytes` that does not end inside a UTF-8 character.
size_t utf8_complete_prefix(std::string_view bytes);

// Bytes of what a text begins with: a character, or what is none and utf8_repair() makes one U+FFFD
// of; 0 for "".
size_t utf8_unit(std::string_view bytes);

// Valid UTF-8: each longest part that only begins a character, and each byte that cannot, becomes
// one U+FFFD (as Python's errors="replace" does).
std::string utf8_repair(std::string_view bytes);

// For messages: control characters and invalid UTF-8 as \xNN, at most `n_max` bytes of input shown.
std::string printable(std::string_view bytes, size_t n_max = 200);

// Without white space at both ends, that of Unicode included: what Python's str.strip() removes.
std::string_view trim(std::string_view text);

}  // namespace transcribe
