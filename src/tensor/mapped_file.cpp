// Mapping by POSIX mmap or Win32 file mappings; an empty file is an empty span without a mapping.
// Pipes and devices are refused by their kind before they are opened: opening a pipe would wait.
#include "tensor/mapped_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <system_error>

#include "base/text.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#endif

namespace transcribe {

namespace {

using Bytes = std::span<const std::byte>;

// Maps the regular file `path`; the system's error code on failure.
std::error_code map(const std::filesystem::path& path, Bytes& bytes);
// `n` bytes of memory, begun by a page; null where there is none.
std::byte* map_memory(size_t n);
void unmap(Bytes bytes);
void release_pages(Bytes part);

#ifdef _WIN32

std::error_code last_error() {
    return {static_cast<int>(GetLastError()), std::system_category()};
}

std::error_code map_handle(HANDLE file, Bytes& bytes) {
    LARGE_INTEGER size;
    if (!GetFileSizeEx(file, &size)) return last_error();
    if (size.QuadPart == 0) return {};
    HANDLE mapping = CreateFileMappingW(file, nullptr, PAGE_READONLY, 0, 0, nullptr);
    if (!mapping) return last_error();
    const void* at = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0);
    std::error_code fault = at ? std::error_code() : last_error();
    CloseHandle(mapping);  // the view keeps it alive
    if (at) bytes = {static_cast<const std::byte*>(at), static_cast<size_t>(size.QuadPart)};
    return fault;
}

std::error_code map(const std::filesystem::path& path, Bytes& bytes) {
    DWORD share = FILE_SHARE_READ | FILE_SHARE_DELETE;
    HANDLE file =
        CreateFileW(path.c_str(), GENERIC_READ, share, nullptr, OPEN_EXISTING, 0, nullptr);
    if (file == INVALID_HANDLE_VALUE) return last_error();
    std::error_code fault = map_handle(file, bytes);
    CloseHandle(file);
    return fault;
}

std::byte* map_memory(size_t n) {
    HANDLE mapping =
        CreateFileMappingW(INVALID_HANDLE_VALUE, nullptr, PAGE_READWRITE,
                           static_cast<DWORD>(n >> 32), static_cast<DWORD>(n), nullptr);
    if (!mapping) return nullptr;
    void* at = MapViewOfFile(mapping, FILE_MAP_WRITE, 0, 0, 0);
    CloseHandle(mapping);
    return static_cast<std::byte*>(at);
}

void unmap(Bytes bytes) {
    UnmapViewOfFile(bytes.data());
}

void release_pages(Bytes) {}  // views of files are trimmed by the system alone

#else

std::error_code last_error() {
    return {errno, std::generic_category()};
}

std::error_code map_descriptor(int fd, Bytes& bytes) {
    struct stat info;
    if (fstat(fd, &info) != 0) return last_error();
    if (info.st_size == 0) return {};
    auto n = static_cast<size_t>(info.st_size);
    void* at = mmap(nullptr, n, PROT_READ, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) return last_error();
    bytes = {static_cast<const std::byte*>(at), n};
    return {};
}

std::error_code map(const std::filesystem::path& path, Bytes& bytes) {
    int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return last_error();
    std::error_code fault = map_descriptor(fd, bytes);
    close(fd);
    return fault;
}

std::byte* map_memory(size_t n) {
    void* at = mmap(nullptr, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

void unmap(Bytes bytes) {
    munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
}

void release_pages(Bytes part) {
    auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    auto begin = reinterpret_cast<std::uintptr_t>(part.data()) / page * page;
    auto end = reinterpret_cast<std::uintptr_t>(part.data()) + part.size();
    madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

#endif

}  // namespace

std::filesystem::path native_path(const std::string& path) {
    return std::filesystem::path(std::u8string(path.begin(), path.end()));
}

Expected<MappedFile> MappedFile::open(const std::string& path) {
    std::string shown = printable(path, 1000);
    std::filesystem::path file = native_path(path);
    std::error_code fault;
    auto status = std::filesystem::status(file, fault);
    if (status.type() == std::filesystem::file_type::not_found) {
        return Error{Code::not_found, fmt::format("{}: no such file", shown)};
    }
    if (fault) return Error{Code::io, fmt::format("{}: {}", shown, fault.message())};
    if (std::filesystem::is_directory(status)) {
        return Error{Code::io, fmt::format("{}: this is a directory, not a file", shown)};
    }
    if (!std::filesystem::is_regular_file(status)) {
        return Error{Code::io, fmt::format("{}: this is a pipe or device, not a file", shown)};
    }
    MappedFile mapped;
    fault = map(file, mapped.bytes_);
    if (fault) return Error{Code::io, fmt::format("{}: {}", shown, fault.message())};
    return mapped;
}

Expected<MappedFile> MappedFile::copy(Bytes bytes) {
    MappedFile copied;
    if (bytes.empty()) return copied;
    std::byte* to = map_memory(bytes.size());
    if (!to) {
        return Error{Code::out_of_memory,
                     fmt::format("there is no memory for the {} bytes of the model", bytes.size())};
    }
    std::copy(bytes.begin(), bytes.end(), to);
    copied.bytes_ = {to, bytes.size()};
    copied.is_copy_ = true;
    return copied;
}

void MappedFile::release(Bytes part) const {
    std::less_equal<> before;
    const std::byte *begin = part.data(), *end = begin + part.size();
    bool inside = !is_copy_ && !part.empty() && before(bytes_.data(), begin) &&
                  before(end, bytes_.data() + bytes_.size());
    if (inside) release_pages(part);
}

MappedFile::~MappedFile() {
    if (!bytes_.empty()) unmap(bytes_);
}

}  // namespace transcribe
