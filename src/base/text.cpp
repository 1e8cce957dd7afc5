#include "base/text.h"

namespace transcribe {

namespace {

// What stands at the start of a text: a character of `n_bytes`; or, invalid, the `n_bytes` that go
// as one; or a character that the end of the text cuts off (Unicode standard, table 3-7).
struct Utf8Head {
    enum Kind { character, invalid, cut } kind;
    size_t n_bytes;
};

Utf8Head utf8_head(std::string_view s) {
    auto at = [&](size_t i) { return static_cast<unsigned char>(s[i]); };
    unsigned char a = at(0);
    if (a < 0x80) return {Utf8Head::character, 1};
    size_t n = a >= 0xC2 && a <= 0xDF ? 2 : (a & 0xF0) == 0xE0 ? 3 : a >= 0xF0 && a <= 0xF4 ? 4 : 0;
    if (n == 0) return {Utf8Head::invalid, 1};
    unsigned char lo = a == 0xE0 ? 0xA0 : a == 0xF0 ? 0x90 : 0x80;
    unsigned char hi = a == 0xED ? 0x9F : a == 0xF4 ? 0x8F : 0xBF;
    for (size_t i = 1; i < n; i++) {
        if (i >= s.size()) return {Utf8Head::cut, i};
        if (at(i) < lo || at(i) > hi) return {Utf8Head::invalid, i};
        lo = 0x80, hi = 0xBF;
    }
    return {Utf8Head::character, n};
}

bool is_blank_char(std::string_view c) {
    auto at = [&](size_t i) { return static_cast<unsigned char>(c[i]); };
    if (c.size() == 1) return (at(0) >= 0x09 && at(0) <= 0x0D) || (at(0) >= 0x1C && at(0) <= 0x20);
    if (c.size() == 2) return c == "\u0085" || c == "\u00A0";
    if (c.starts_with("\xE2\x80"))
        return at(2) <= 0x8A || c == "\u2028" || c == "\u2029" || c == "\u202F";
    return c == "\u1680" || c == "\u205F" || c == "\u3000";
}

// Bytes of the white space character that begins (or ends) a text; 0 when there is none.
size_t blank_at_start(std::string_view s) {
    for (size_t n = 1; n <= 3 && n <= s.size(); n++) {
        if (is_blank_char(s.substr(0, n))) return n;
    }
    return 0;
}

size_t blank_at_end(std::string_view s) {
    for (size_t n = 1; n <= 3 && n <= s.size(); n++) {
        if (is_blank_char(s.substr(s.size() - n))) return n;
    }
    return 0;
}

}  // namespace

size_t utf8_complete_prefix(std::string_view bytes) {
    size_t start = bytes.size() > 4 ? bytes.size() - 4 : 0;
    for (size_t i = start; i < bytes.size(); i++) {
        if (utf8_head(bytes.substr(i)).kind == Utf8Head::cut) return i;
    }
    return bytes.size();
}

size_t utf8_unit(std::string_view bytes) {
    return bytes.empty() ? 0 : utf8_head(bytes).n_bytes;
}

std::string utf8_repair(std::string_view bytes) {
    std::string out;
    out.reserve(bytes.size());
    while (!bytes.empty()) {
        auto [kind, n] = utf8_head(bytes);
        out.append(kind == Utf8Head::character ? bytes.substr(0, n) : "\uFFFD");
        bytes.remove_prefix(n);
    }
    return out;
}

std::string printable(std::string_view bytes, size_t n_max) {
    constexpr char hex[] = "0123456789abcdef";
    std::string out;
    std::string_view rest = bytes.substr(0, n_max);
    while (!rest.empty()) {
        auto [kind, n] = utf8_head(rest);
        auto c = static_cast<unsigned char>(rest[0]);
        if (kind == Utf8Head::character && c >= 0x20 && c != 0x7F) {
            out.append(rest.substr(0, n));
        } else {
            n = 1;
            out += {'\\', 'x', hex[c >> 4], hex[c & 15]};
        }
        rest.remove_prefix(n);
    }
    if (bytes.size() > n_max) out += "...";
    return out;
}

std::string_view trim(std::string_view text) {
    while (size_t n = blank_at_start(text)) text.remove_prefix(n);
    while (size_t n = blank_at_end(text)) text.remove_suffix(n);
    return text;
}

}  // namespace transcribe
