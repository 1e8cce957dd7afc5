// Reads little-endian values, one after the other, from bytes that may lie about their own sizes.
// The first fault is kept and everything after it reads as zero, so that a parser can be written
// without a test after each field; its loops must stop when ok() is false.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace transcribe {

static_assert(std::endian::native == std::endian::little, "model files are read in place");

class ByteReader {
  public:
    explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    bool ok() const { return fault_.empty(); }
    const std::string& fault() const { return fault_; }
    size_t at() const { return at_; }
    size_t left() const { return ok() ? bytes_.size() - at_ : 0; }

    // Keeps the first fault.
    void fail(std::string fault) {
        if (ok()) fault_ = std::move(fault);
    }
    // The next n bytes; `what` names them when they are not there.
    std::span<const std::byte> take(std::uint64_t n, std::string_view what) {
        if (ok() && n > left()) {
            fail(fmt::format("the file is cut or damaged: {} needs {} bytes at {}, and {} are left",
                             what, n, at_, left()));
        }
        if (!ok()) return {};
        auto part = bytes_.subspan(at_, static_cast<size_t>(n));
        at_ += part.size();
        return part;
    }
    template <class T>
    T get(std::string_view what) {
        T value{};
        if (auto part = take(sizeof(T), what); !part.empty()) {
            std::memcpy(&value, part.data(), sizeof(T));
        }
        return value;
    }
    std::string_view text(std::uint64_t n, std::string_view what) {
        auto part = take(n, what);
        return {reinterpret_cast<const char*>(part.data()), part.size()};
    }

  private:
    std::span<const std::byte> bytes_;
    size_t at_ = 0;
    std::string fault_;
};

}  // namespace transcribe
