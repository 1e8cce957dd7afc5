// Two fields of a RIFF header. The fmt chunk is searched, not walked to: a wrong guess harms
// nothing.
#include "audio/riff.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace transcribe {

RiffFacts read_riff_facts(FileInput& input) {
    std::array<std::uint8_t, 4096> bytes;
    input.position = 0;
    const int n = input.read(bytes.data(), int(bytes.size()));
    const std::string_view head(reinterpret_cast<const char*>(bytes.data()), n > 0 ? size_t(n) : 0);
    const bool riff = head.starts_with("RIFF"), aiff = head.starts_with("FORM");
    RiffFacts facts;
    if (head.size() < 8 || !(riff || aiff)) return facts;

    std::uint32_t size = 0;
    for (int i = 0; i < 4; i++) size |= std::uint32_t(bytes[4 + i]) << 8 * (riff ? i : 3 - i);
    if (size != 0 && size != 0xffffffff) {
        facts.n_missing_bytes = std::max<i64>(0, i64(size) + 8 - input.size_bytes());
    }
    const size_t fmt = head.find("fmt ");
    facts.is_extensible = fmt != head.npos && head.substr(fmt).substr(0, 10).ends_with("\xfe\xff");
    return facts;
}

}  // namespace transcribe
