// CHECK(cond): a condition that only a bug in this program can break. Always on; throws Bug, which
// is caught at the edges (C API, command) and reported with its place.
#pragma once

#include <stdexcept>
#include <string>

namespace transcribe {

struct Bug : std::logic_error {
    using std::logic_error::logic_error;
};

[[noreturn]] inline void bug(const char* file, int line, const char* cond) {
    throw Bug(std::string(file) + ":" + std::to_string(line) + ": " + cond);
}

#define CHECK(cond)                                                \
    do {                                                           \
        if (!(cond)) ::transcribe::bug(__FILE__, __LINE__, #cond); \
    } while (0)

}  // namespace transcribe
