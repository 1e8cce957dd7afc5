#include "decode/quality.h"

#include <zlib.h>

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

}  // namespace transcribe
