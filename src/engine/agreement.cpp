#include "engine/agreement.h"

#include <utf8proc.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/text.h"

namespace transcribe {

namespace {

// A second between two ends counts as much as this many words that differ. Times of one word vary
// by some tenths of a second from decoding to decoding.
constexpr double words_per_second_off = 0.5;

bool is_spoken(utf8proc_int32_t c) {
    const auto category = utf8proc_category(c);
    return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO;  // L, M, N
}

std::vector<std::string> all_spoken(std::span<const Word> words) {
    std::vector<std::string> out;
    for (const Word& word : words) out.push_back(spoken(word.text));
    return out;
}

// For each j: words that differ between all of `a` and the first j of `b` (Levenshtein).
std::vector<size_t> differences(const std::vector<std::string>& a,
                                const std::vector<std::string>& b) {
    std::vector<size_t> row(b.size() + 1);
    for (size_t j = 0; j <= b.size(); j++) row[j] = j;
    for (size_t i = 0; i < a.size(); i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < b.size(); j++) {
            const size_t replaced = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = std::min({row[j + 1] + 1, row[j] + 1, replaced});
        }
    }
    return row;
}

}  // namespace

std::string spoken(std::string_view word) {
    const std::string text = utf8_repair(word);
    utf8proc_uint8_t* folded = nullptr;
    const auto n =
        utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                     static_cast<utf8proc_ssize_t>(text.size()), &folded,
                     static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE |
                                                    UTF8PROC_COMPAT | UTF8PROC_CASEFOLD));
    const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owner(folded, std::free);
    std::string out;
    for (utf8proc_ssize_t at = 0; at < n;) {
        utf8proc_int32_t c = 0;
        const auto n_bytes = utf8proc_iterate(folded + at, n - at, &c);
        if (n_bytes <= 0) break;
        if (is_spoken(c)) out.append(folded + at, folded + at + n_bytes);
        at += n_bytes;
    }
    return out.empty() ? std::string(trim(text)) : out;  // a sign alone stands for itself
}

size_t n_repeated(std::span<const Word> said, std::span<const Word> heard) {
    if (said.empty()) return 0;
    const auto n_different = differences(all_spoken(said), all_spoken(heard));
    size_t best = 0;
    double best_cost = 0;
    for (size_t j = 0; j <= heard.size(); j++) {
        const i64 end_ms = j > 0 ? heard[j - 1].t1_ms : said.front().t0_ms;
        const double off_s = static_cast<double>(std::abs(end_ms - said.back().t1_ms)) / 1000;
        const double cost = static_cast<double>(n_different[j]) + words_per_second_off * off_s;
        if (j == 0 || cost < best_cost) {
            best = j;
            best_cost = cost;
        }
    }
    return best;
}

size_t n_different(std::span<const Word> a, std::span<const Word> b) {
    return differences(all_spoken(a), all_spoken(b)).back();
}

size_t n_agreed(std::span<const Word> a, std::span<const Word> b) {
    size_t n = 0;
    while (n < std::min(a.size(), b.size()) && spoken(a[n].text) == spoken(b[n].text)) n++;
    return n;
}

}  // namespace transcribe
