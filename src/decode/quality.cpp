#include "decode/quality.h"

#include <zlib.h>

#include <algorithm>
#include <new>
#include <vector>

namespace transcribe {

float compression_ratio(std::string_view text) {
    uLongf n_bytes = compressBound(text.size());
    std::vector<Bytef> stream(n_bytes);
    int code =
        compress(stream.data(), &n_bytes, reinterpret_cast<const Bytef*>(text.data()), text.size());
    if (code != Z_OK)
        throw std::bad_alloc();  // the only fault left when the buffer is large enough
    return static_cast<float>(static_cast<double>(text.size()) / static_cast<double>(n_bytes));
}

size_t longest_common_run(std::span<const int> a, std::span<const int> b) {
    std::vector<size_t> ending(b.size() + 1);  // [j + 1]: of the run up to the present a and b[j]
    size_t longest = 0;
    for (int token : a) {
        for (size_t j = b.size(); j-- > 0;) {
            ending[j + 1] = token == b[j] ? ending[j] + 1 : 0;
            longest = std::max(longest, ending[j + 1]);
        }
    }
    return longest;
}

}  // namespace transcribe
