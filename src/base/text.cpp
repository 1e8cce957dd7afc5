#include "base/text.h"

namespace transcribe {

namespace {

// Length of the valid UTF-8 character at the start of `s`; 0 when there is none, -1 when `s` ends
// inside of one that is valid so far (Unicode standard, table 3-7).
int utf8_char(std::string_view s) {
    auto at = [&](size_t i) { return static_cast<unsigned char>(s[i]); };
    unsigned char a = at(0);
    if (a < 0x80) return 1;
    int n = a >= 0xC2 && a <= 0xDF ? 2 : (a & 0xF0) == 0xE0 ? 3 : a >= 0xF0 && a <= 0xF4 ? 4 : 0;
    if (n == 0) return 0;
    unsigned char lo = a == 0xE0 ? 0xA0 : a == 0xF0 ? 0x90 : 0x80;
    unsigned char hi = a == 0xED ? 0x9F : a == 0xF4 ? 0x8F : 0xBF;
    for (int i = 1; i < n; i++) {
        if (static_cast<size_t>(i) >= s.size()) return -1;
        if (at(i) < lo || at(i) > hi) return 0;
        lo = 0x80, hi = 0xBF;
    }
    return n;
}

}  // namespace

size_t utf8_complete_prefix(std::string_view bytes) {
    size_t start = bytes.size() > 4 ? bytes.size() - 4 : 0;
    for (size_t i = start; i < bytes.size(); i++) {
        if (utf8_char(bytes.substr(i)) == -1) return i;
    }
    return bytes.size();
}

std::string utf8_repair(std::string_view bytes) {
    std::string out;
    out.reserve(bytes.size());
    while (!bytes.empty()) {
        int n = utf8_char(bytes);
        if (n > 0) {
            out.append(bytes.substr(0, static_cast<size_t>(n)));
        } else {
            out.append("\xEF\xBF\xBD");
            n = 1;
        }
        bytes.remove_prefix(static_cast<size_t>(n));
    }
    return out;
}

std::string printable(std::string_view bytes, size_t n_max) {
    constexpr char hex[] = "0123456789abcdef";
    std::string out;
    std::string_view rest = bytes.substr(0, n_max);
    while (!rest.empty()) {
        int n = utf8_char(rest);
        auto c = static_cast<unsigned char>(rest[0]);
        if (n > 0 && c >= 0x20 && c != 0x7F) {
            out.append(rest.substr(0, static_cast<size_t>(n)));
        } else {
            n = 1;
            out += {'\\', 'x', hex[c >> 4], hex[c & 15]};
        }
        rest.remove_prefix(static_cast<size_t>(n));
    }
    if (bytes.size() > n_max) out += "...";
    return out;
}

std::string_view trim(std::string_view text) {
    constexpr std::string_view blank = " \t\r\n\f\v";
    size_t a = text.find_first_not_of(blank);
    if (a == std::string_view::npos) return {};
    return text.substr(a, text.find_last_not_of(blank) - a + 1);
}

}  // namespace transcribe
