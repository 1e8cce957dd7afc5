#include "base/log.h"

#include <memory>
#include <mutex>
#include <utility>

namespace transcribe {

namespace {

struct Shared {
    std::mutex mutex;
    std::shared_ptr<const LogSink> sink;
};

Shared& shared() {
    static Shared one;
    return one;
}

}  // namespace

void set_log_sink(LogSink sink) {
    auto next = sink ? std::make_shared<const LogSink>(std::move(sink)) : nullptr;
    std::lock_guard lock(shared().mutex);
    shared().sink.swap(next);
}

void log(LogLevel level, const std::string& text) {
    std::unique_lock lock(shared().mutex);
    std::shared_ptr<const LogSink> sink = shared().sink;
    lock.unlock();  // a sink may log, or be replaced by itself
    if (sink) (*sink)(level, text);
}

}  // namespace transcribe
