#include "text/words.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace transcribe {

namespace {

enum class Kind : unsigned char { letter, number, newline, blank, symbol };

bool is_blank(int c) {  // \s of the expressions, line ends aside: the property White_Space
    return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == 0x85 || c == 0xA0 ||
           c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
           c == 0x202F || c == 0x205F || c == 0x3000;
}

Kind kind_of(int c) {
    if (c == '\n' || c == '\r') return Kind::newline;
    if (is_blank(c)) return Kind::blank;
    switch (utf8proc_category(c)) {
        case UTF8PROC_CATEGORY_LU:
        case UTF8PROC_CATEGORY_LL:
        case UTF8PROC_CATEGORY_LT:
        case UTF8PROC_CATEGORY_LM:
        case UTF8PROC_CATEGORY_LO: return Kind::letter;
        case UTF8PROC_CATEGORY_ND:
        case UTF8PROC_CATEGORY_NL:
        case UTF8PROC_CATEGORY_NO: return Kind::number;
        default: return Kind::symbol;
    }
}

// The text as characters with their class; positions here count characters.
class Chars {
  public:
    explicit Chars(std::string_view text) : text_(text) {
        size_t at = 0;
        while (at < text.size()) {
            utf8proc_int32_t c = 0;
            auto n = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                                      static_cast<utf8proc_ssize_t>(text.size() - at), &c);
            at_.push_back(at);
            kinds_.push_back(n > 0 ? kind_of(c) : Kind::symbol);
            at += n > 0 ? static_cast<size_t>(n) : 1;
        }
        at_.push_back(at);
    }

    size_t size() const { return kinds_.size(); }
    bool is(size_t i, Kind kind) const { return i < size() && kinds_[i] == kind; }
    bool is_white(size_t i) const { return is(i, Kind::blank) || is(i, Kind::newline); }
    bool is_space(size_t i) const { return i < size() && text_[at_[i]] == ' '; }
    std::string_view slice(size_t first, size_t last) const {
        last = std::min(last, size());
        return text_.substr(at_[first], at_[last] - at_[first]);
    }
    // The end of the run of `kind` that starts at `i`.
    size_t run(size_t i, Kind kind) const {
        while (is(i, kind)) i++;
        return i;
    }
    size_t white_run(size_t i) const {
        while (is_white(i)) i++;
        return i;
    }

  private:
    std::string_view text_;
    std::vector<size_t> at_;  // byte offset of each character, and of the end
    std::vector<Kind> kinds_;
};

// The length in characters of 's 't 're 've 'm 'll 'd at `i`, or 0.
size_t contraction(const Chars& chars, size_t i, bool any_case) {
    if (chars.slice(i, i + 1) != "'") return 0;
    auto equals = [&](std::string_view s, std::string_view lower) {
        return s.size() == lower.size() &&
               std::equal(s.begin(), s.end(), lower.begin(), [&](char a, char b) {
                   return a == b || (any_case && a + ('a' - 'A') == b);
               });
    };
    for (std::string_view tail : {"s", "t", "m", "d"}) {
        if (equals(chars.slice(i + 1, i + 2), tail)) return 2;
    }
    // The long s folds to s.
    if (any_case && chars.slice(i + 1, i + 2) == "\u017F") return 2;
    for (std::string_view tail : {"re", "ve", "ll"}) {
        if (equals(chars.slice(i + 1, i + 3), tail)) return 3;
    }
    return 0;
}

// \s+(?!\S)|\s+ : white space leaves its last character to the word that follows.
size_t end_of_white(const Chars& chars, size_t i) {
    size_t end = chars.white_run(i);
    return end < chars.size() && end - i > 1 ? end - 1 : end;
}

size_t end_of_gpt2_word(const Chars& chars, size_t i) {
    if (size_t n = contraction(chars, i, false)) return i + n;
    size_t body = i + (chars.is_space(i) ? 1 : 0);
    for (Kind kind : {Kind::letter, Kind::number, Kind::symbol}) {
        if (chars.is(body, kind)) return chars.run(body, kind);
    }
    return end_of_white(chars, i);
}

size_t end_of_qwen2_word(const Chars& chars, size_t i) {
    if (size_t n = contraction(chars, i, true)) return i + n;
    if (chars.is(i, Kind::letter)) return chars.run(i, Kind::letter);
    if (chars.is(i, Kind::number)) return i + 1;
    if (!chars.is(i, Kind::newline) && chars.is(i + 1, Kind::letter)) {
        return chars.run(i + 1, Kind::letter);
    }
    size_t body = i + (chars.is_space(i) ? 1 : 0);
    if (chars.is(body, Kind::symbol)) {
        return chars.run(chars.run(body, Kind::symbol), Kind::newline);
    }
    for (size_t end = chars.white_run(i); end > i; end--) {
        if (chars.is(end - 1, Kind::newline)) return end;
    }
    return end_of_white(chars, i);
}

}  // namespace

std::vector<std::string_view> split_words(std::string_view text, WordRules rules) {
    Chars chars(text);
    std::vector<std::string_view> words;
    for (size_t i = 0; i < chars.size();) {
        size_t end =
            rules == WordRules::gpt2 ? end_of_gpt2_word(chars, i) : end_of_qwen2_word(chars, i);
        words.push_back(chars.slice(i, end));
        i = end;
    }
    return words;
}

std::string normalize_nfc(std::string_view text) {
    utf8proc_uint8_t* mapped = nullptr;
    auto n = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                          static_cast<utf8proc_ssize_t>(text.size()), &mapped,
                          static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(mapped, &std::free);
    if (n < 0) return std::string(text);
    return std::string(reinterpret_cast<const char*>(mapped), static_cast<size_t>(n));
}

}  // namespace transcribe
