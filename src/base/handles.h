// Objects behind numbers that a caller holds in place of pointers.
//
// A number is never used twice, and no two tables share one, so that what was freed, or is of
// another kind, is not found; nobody follows a pointer that a stranger gave.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

namespace transcribe {

using HandleNumber = std::uintptr_t;

// Never 0, and no multiple of 2: not to be mistaken for an address.
inline HandleNumber next_handle() {
    static std::atomic<HandleNumber> last = 1;
    return last += 2;
}

template <class Object>
class Handles {
  public:
    HandleNumber add(std::shared_ptr<Object> object) {
        HandleNumber number = next_handle();
        std::lock_guard lock(mutex_);
        objects_.emplace(number, std::move(object));
        return number;
    }
    // Null where there is none.
    std::shared_ptr<Object> find(HandleNumber number) {
        std::shared_lock lock(mutex_);
        auto found = objects_.find(number);
        return found == objects_.end() ? nullptr : found->second;
    }
    // The object lives on as long as somebody works with it.
    std::shared_ptr<Object> remove(HandleNumber number) {
        std::lock_guard lock(mutex_);
        auto found = objects_.find(number);
        if (found == objects_.end()) return nullptr;
        std::shared_ptr<Object> object = std::move(found->second);
        objects_.erase(found);
        return object;
    }

  private:
    std::shared_mutex mutex_;
    std::unordered_map<HandleNumber, std::shared_ptr<Object>> objects_;
};

}  // namespace transcribe
