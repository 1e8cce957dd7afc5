// Where text may be cut: between grapheme clusters (what a reader takes for one character) and, for
// lines, before a word or inside text that is written without spaces.
#pragma once

#include <string_view>
#include <vector>

namespace transcribe {

// Byte offsets at which the clusters of valid UTF-8 begin, and the size of the text at the end.
std::vector<size_t> grapheme_bounds(std::string_view text);
size_t n_graphemes(std::string_view text);
// Columns of a terminal: two for wide characters, none for marks.
int n_columns(std::string_view text);

// The parts of valid UTF-8 that a line may end after, in order: words with the blanks before them;
// in Chinese, Japanese, Thai, Lao, Khmer and Burmese single clusters, with the signs that must not
// begin or end a line. Joined they are the text.
std::vector<std::string_view> line_parts(std::string_view text);

}  // namespace transcribe
