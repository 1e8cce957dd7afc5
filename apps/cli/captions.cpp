#include "cli/captions.h"

#include "base/text.h"
#include "output/cues.h"
#include "output/graphemes.h"

namespace transcribe::cli {

namespace {

constexpr const char* rewind = "\r\033[K";  // to the start of the line, and clear it

std::string dim(const std::string& text) {
    return text.empty() ? text : "\033[2m" + text + "\033[0m";
}

// As much of the start as fits.
std::string fit(std::string_view text, int columns) {
    std::string out;
    const auto bounds = grapheme_bounds(text);
    for (size_t i = 0; i + 1 < bounds.size(); i++) {
        const std::string_view cluster = text.substr(bounds[i], bounds[i + 1] - bounds[i]);
        columns -= n_columns(cluster);
        if (columns < 0) break;
        out += cluster;
    }
    return out;
}

// Without what would move the cursor.
std::string harmless(std::string_view text) {
    return printable(one_line(text), text.size());
}

}  // namespace

std::string Captions::show(std::span<const Word> words, const std::string& partial) {
    std::string out = rewind;
    for (const Word& word : words) {
        const std::string text = harmless(word.text);
        const bool fits = n_columns(line_) + n_columns(text) < n_columns_;
        if (!fits && !line_.empty()) {
            out += line_ + "\n";
            line_.clear();
        }
        line_ += line_.empty() ? std::string(trim(text)) : text;
    }
    out += line_;
    const std::string rest = harmless(line_.empty() ? trim(partial) : partial);
    return out + dim(fit(rest, n_columns_ - 1 - n_columns(line_)));
}

std::string Captions::close() {
    const std::string out = line_.empty() ? rewind : rewind + line_ + "\n";
    line_.clear();
    return out;
}

}  // namespace transcribe::cli
