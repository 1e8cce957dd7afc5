#include "hub/sha256.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <new>
#include <vector>

extern "C" {
#include <libavutil/mem.h>
#include <libavutil/sha.h>
}

namespace transcribe {

Sha256::Sha256() : sha_(av_sha_alloc()) {
    if (!sha_) throw std::bad_alloc();
    av_sha_init(sha_, 256);
}

Sha256::~Sha256() {
    av_free(sha_);
}

void Sha256::add(std::span<const char> bytes) {
    av_sha_update(sha_, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

std::string Sha256::hex() {
    std::array<uint8_t, 32> digest{};
    av_sha_final(sha_, digest.data());
    return fmt::format("{:02x}", fmt::join(digest, ""));
}

Expected<std::string> sha256_of_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return Error{Code::io, fmt::format("cannot read {}", path)};
    Sha256 sum;
    std::vector<char> block(1 << 20);
    while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0) {
        sum.add({block.data(), static_cast<size_t>(in.gcount())});
    }
    if (in.bad()) return Error{Code::io, fmt::format("reading {} failed", path)};
    return sum.hex();
}

}  // namespace transcribe
