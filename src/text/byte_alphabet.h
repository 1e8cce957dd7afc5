// GPT-2's way to write bytes as printable characters, so that a vocabulary is readable text: the
// 188 printable characters of Latin-1 stand for themselves, the other 68 bytes for U+0100 ...
// U+0143 in order (a space is U+0120). A piece of a vocabulary is a string of these characters.
#pragma once

#include <string>
#include <string_view>

namespace transcribe {

// Appends the bytes that `piece` stands for. False, with `out` as it was, when a character of
// `piece` is none of the alphabet or it is not UTF-8.
bool append_piece_bytes(std::string_view piece, std::string& out);

// The piece of `bytes`.
std::string piece_of_bytes(std::string_view bytes);

}  // namespace transcribe
