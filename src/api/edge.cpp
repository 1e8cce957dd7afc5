#include "api/edge.h"

#include <fmt/format.h>

#include <new>

#include "base/check.h"

namespace transcribe::api {

namespace {

// Where a sentence finds no memory, its beginning is told.
struct LastError {
    std::string text;
    const char* shown = "";
};
thread_local LastError last;

transcribe_status status_of(Code code, transcribe_status unsupported) {
    switch (code) {
        case Code::invalid_argument: return TRANSCRIBE_INVALID_ARG;
        case Code::not_found: return TRANSCRIBE_FILE_NOT_FOUND;
        case Code::bad_model: return TRANSCRIBE_GGUF;
        case Code::bad_audio: return TRANSCRIBE_BAD_AUDIO;
        case Code::unsupported: return unsupported;
        case Code::out_of_memory: return TRANSCRIBE_OOM;
        case Code::backend: return TRANSCRIBE_BACKEND;
        case Code::aborted: return TRANSCRIBE_ABORTED;
        case Code::io: return TRANSCRIBE_IO;
        case Code::internal: return TRANSCRIBE_INTERNAL;
    }
    return TRANSCRIBE_INTERNAL;
}

}  // namespace

Refusal refusal(Error error, transcribe_status unsupported) {
    return {status_of(error.code, unsupported), std::move(error.what)};
}

void need(bool holds, const char* sentence) {
    if (!holds) throw Refusal{TRANSCRIBE_INVALID_ARG, sentence};
}

void need_size(size_t size, size_t known, const char* name) {
    if (size == known) return;
    throw Refusal{TRANSCRIBE_BAD_STRUCT_SIZE,
                  fmt::format("{}::size is {}, and this library ({}) knows one of {} bytes; set "
                              "it, or build program and library from the same header",
                              name, size, TRANSCRIBE_VERSION, known)};
}

transcribe_status report(const Refusal& refusal) noexcept {
    try {
        last.text = refusal.what;
        last.shown = last.text.c_str();
    } catch (...) {
        last.shown = "there is no memory for a sentence";
    }
    return refusal.status;
}

const char* last_error() noexcept {
    return last.shown;
}

Refusal caught() {
    try {
        throw;
    } catch (const std::bad_alloc&) {
        return {TRANSCRIBE_OOM, "there is no memory"};
    } catch (const Bug& bug) {
        return {TRANSCRIBE_INTERNAL, fmt::format("a fault of this library: {}", bug.what())};
    } catch (const std::exception& fault) {
        return {TRANSCRIBE_INTERNAL, fmt::format("a fault of this library: {}", fault.what())};
    } catch (...) {
        return {TRANSCRIBE_INTERNAL, "a callback has thrown"};
    }
}

}  // namespace transcribe::api
