#include "output/graphemes.h"

#include <utf8proc.h>

#include <iterator>

#include "base/text.h"

namespace transcribe {

namespace {

// The code point at the start of `text`, and its bytes.
utf8proc_ssize_t code_point(std::string_view text, utf8proc_int32_t& c) {
    const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
    const auto n = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size()), &c);
    return n > 0 ? n : 1;  // c is -1 then, which no table knows
}

struct Range {
    utf8proc_int32_t first, last;
};

// Scripts whose words are not parted by blanks; Hangul, as wide, is.
constexpr Range unspaced_scripts[] = {
    {0x0E00, 0x0EFF},  // Thai, Lao
    {0x1000, 0x109F},  // Myanmar
    {0x1780, 0x17FF},  // Khmer
    {0x2E80, 0x2FFF},  // radicals of Han
    {0x3003, 0x312F},  // Hiragana, Katakana, Bopomofo
    {0x31A0, 0x9FFF},  // Han, and small letters of the above
    {0xF900, 0xFAFF},  // Han, compatibility
    {0xFF66, 0xFF9F},  // Katakana, half width
    {0x20000, 0x3FFFF},
};

enum class Sign { blank, spaced, unspaced, opening, closing };

Sign sign_of(std::string_view cluster) {
    if (trim(cluster).empty()) return Sign::blank;
    utf8proc_int32_t c = 0;
    code_point(cluster, c);
    switch (utf8proc_category(c)) {
        case UTF8PROC_CATEGORY_PS:
        case UTF8PROC_CATEGORY_PI: return Sign::opening;
        case UTF8PROC_CATEGORY_PE:
        case UTF8PROC_CATEGORY_PF:
        case UTF8PROC_CATEGORY_PO:
        case UTF8PROC_CATEGORY_LM: return Sign::closing;  // LM: signs that repeat or lengthen
        default: break;
    }
    for (const Range& range : unspaced_scripts) {
        if (c >= range.first && c <= range.last) return Sign::unspaced;
    }
    return Sign::spaced;
}

bool may_break(Sign before, Sign after, bool unspaced_before) {
    if (after == Sign::blank) return before != Sign::blank;
    if (before == Sign::blank || before == Sign::opening || after == Sign::closing) return false;
    return after == Sign::unspaced || unspaced_before;
}

}  // namespace

std::vector<size_t> grapheme_bounds(std::string_view text) {
    std::vector<size_t> bounds;
    utf8proc_int32_t state = 0, before = 0;
    for (size_t at = 0; at < text.size();) {
        utf8proc_int32_t c = 0;
        const auto n = code_point(text.substr(at), c);
        const bool first = bounds.empty();
        if (first || utf8proc_grapheme_break_stateful(before, c, &state)) bounds.push_back(at);
        before = c;
        at += static_cast<size_t>(n);
    }
    bounds.push_back(text.size());
    return bounds;
}

size_t n_graphemes(std::string_view text) {
    return grapheme_bounds(text).size() - 1;
}

int n_columns(std::string_view text) {
    int n = 0;
    while (!text.empty()) {
        utf8proc_int32_t c = 0;
        const auto n_bytes = code_point(text, c);
        n += utf8proc_charwidth(c);
        text.remove_prefix(static_cast<size_t>(n_bytes));
    }
    return n;
}

std::vector<std::string_view> line_parts(std::string_view text) {
    const std::vector<size_t> bounds = grapheme_bounds(text);
    std::vector<std::string_view> parts;
    size_t start = 0;
    Sign before = Sign::blank;
    bool unspaced_before = false;  // also past the signs that close
    for (size_t i = 0; i + 1 < bounds.size(); i++) {
        const Sign sign = sign_of(text.substr(bounds[i], bounds[i + 1] - bounds[i]));
        if (i > 0 && may_break(before, sign, unspaced_before)) {
            parts.push_back(text.substr(start, bounds[i] - start));
            start = bounds[i];
        }
        unspaced_before = sign == Sign::unspaced || (sign == Sign::closing && unspaced_before);
        before = sign;
    }
    if (start < text.size()) parts.push_back(text.substr(start));
    return parts;
}

}  // namespace transcribe
