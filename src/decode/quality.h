// How trustworthy decoded text is: the numbers that decide whether a window is decoded again.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace transcribe {

// Bytes of the text over bytes of its zlib stream, level as zlib's default; high for loops. 0 for
// "".
float compression_ratio(std::string_view text);

// Mean over the sampled tokens and the end of text.
inline float mean_logprob(double sum, size_t n_tokens) {
    return static_cast<float>(sum / static_cast<double>(n_tokens + 1));
}

// Length of the longest stretch of tokens that stands in both.
size_t longest_common_run(std::span<const int> a, std::span<const int> b);

}  // namespace transcribe
