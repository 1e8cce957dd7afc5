#include "text/byte_alphabet.h"

#include <array>

namespace transcribe {

namespace {

constexpr int n_chars = 0x144;

constexpr bool stands_for_itself(int byte) {
    return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
}

struct Alphabet {
    std::array<short, 256> char_of_byte{};
    std::array<short, n_chars> byte_of_char{};  // -1: none
};

constexpr Alphabet make_alphabet() {
    Alphabet a;
    a.byte_of_char.fill(-1);
    short next = 0x100;
    for (short byte = 0; byte < 256; byte++) {
        short c = stands_for_itself(byte) ? byte : next++;
        a.char_of_byte[static_cast<size_t>(byte)] = c;
        a.byte_of_char[static_cast<size_t>(c)] = byte;
    }
    return a;
}

constexpr Alphabet alphabet = make_alphabet();

// All of the alphabet lies below U+0800, so a character has one or two bytes of UTF-8.
int take_char(std::string_view& s) {
    auto a = static_cast<unsigned char>(s[0]);
    if (a < 0x80) {
        s.remove_prefix(1);
        return a;
    }
    if (a < 0xC2 || a > 0xDF || s.size() < 2) return -1;
    auto b = static_cast<unsigned char>(s[1]);
    if ((b & 0xC0) != 0x80) return -1;
    s.remove_prefix(2);
    return (a & 0x1F) << 6 | (b & 0x3F);
}

}  // namespace

bool append_piece_bytes(std::string_view piece, std::string& out) {
    size_t size_before = out.size();
    while (!piece.empty()) {
        int c = take_char(piece);
        int byte = c < 0 || c >= n_chars ? -1 : alphabet.byte_of_char[static_cast<size_t>(c)];
        if (byte < 0) {
            out.resize(size_before);
            return false;
        }
        out.push_back(static_cast<char>(byte));
    }
    return true;
}

std::string piece_of_bytes(std::string_view bytes) {
    std::string out;
    for (char byte : bytes) {
        int c = alphabet.char_of_byte[static_cast<unsigned char>(byte)];
        if (c < 0x80) {
            out.push_back(static_cast<char>(c));
        } else {
            out += {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 0x3F))};
        }
    }
    return out;
}

}  // namespace transcribe
