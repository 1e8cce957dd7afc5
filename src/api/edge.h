// The edge of the C interface: nothing thrown leaves it, and every refusal is a status and a
// sentence. Inside src/api a refusal is thrown, since many small checks come before each call; the
// layers below give theirs as values.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/handles.h"
#include "transcribe/transcribe.h"

namespace transcribe::api {

struct Refusal {
    transcribe_status status = TRANSCRIBE_OK;
    std::string what;
};

// An Error in the terms of the C interface; `unsupported` says what was not.
Refusal refusal(Error error, transcribe_status unsupported = TRANSCRIBE_UNSUPPORTED_ARCH);

// Throws TRANSCRIBE_INVALID_ARG where it does not hold.
void need(bool holds, const char* sentence);
// Throws TRANSCRIBE_BAD_STRUCT_SIZE where a caller's struct is of another size than ours.
void need_size(size_t size, size_t known, const char* name);

template <class T>
T value_of(Expected<T> expected) {
    if (!expected) throw refusal(std::move(expected).error());
    return *std::move(expected);
}

// Keeps the sentence for transcribe_last_error() and gives the status.
transcribe_status report(const Refusal& refusal) noexcept;
const char* last_error() noexcept;

// The refusal that is being thrown, whatever it is. For use in a catch block.
Refusal caught();

template <class Work>
transcribe_status guard(const Work& work) noexcept {
    try {
        work();
        return TRANSCRIBE_OK;
    } catch (const Refusal& refusal) {
        return report(refusal);
    } catch (...) {
        try {
            return report(caught());
        } catch (...) {  // there is no memory for a sentence
            return TRANSCRIBE_OOM;
        }
    }
}

// Handles are numbers in the place of pointers (base/handles.h).
template <class Handle>
HandleNumber number_of(const Handle* handle) {
    return reinterpret_cast<HandleNumber>(handle);
}

template <class Object, class Handle>
std::shared_ptr<Object> object_of(Handles<Object>& table, const Handle* handle) {
    std::shared_ptr<Object> object = table.find(number_of(handle));
    need(object != nullptr, "the handle is null, was freed, or is of another kind");
    return object;
}

template <class Object, class Handle>
void give(Handles<Object>& table, std::shared_ptr<Object> object, Handle** out) {
    *out = reinterpret_cast<Handle*>(table.add(std::move(object)));
}

template <class Object, class Handle>
transcribe_status free_handle(Handles<Object>& table, Handle* handle) noexcept {
    return guard([&] {
        if (!handle) return;
        need(table.remove(number_of(handle)) != nullptr,
             "the handle was freed already, or is of another kind");
    });
}

}  // namespace transcribe::api
