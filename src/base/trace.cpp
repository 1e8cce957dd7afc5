#include "base/trace.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <mutex>

namespace transcribe {

namespace {

using Clock = std::chrono::steady_clock;

std::atomic<bool> is_on = false;
std::atomic<int> n_threads = 0;

// The file under way. Its mutex orders events; `is_on` outside of it is only a hint.
struct Trace {
    std::mutex mutex;
    std::ofstream file;
    Clock::time_point start;

    ~Trace() { close(); }
    void close() {
        is_on = false;
        if (file.is_open()) file << "\n]\n";
        file.close();
    }
};

Trace& trace() {
    static Trace only;
    return only;
}

void put(const char* name, char phase) {
    thread_local int thread = ++n_threads;
    Trace& t = trace();
    std::lock_guard lock(t.mutex);
    if (!is_on) return;
    std::chrono::duration<double, std::micro> at = Clock::now() - t.start;
    t.file << fmt::format(",\n{{\"name\":\"{}\",\"ph\":\"{}\",\"ts\":{:.1f},\"pid\":1,\"tid\":{}}}",
                          name, phase, at.count(), thread);
}

}  // namespace

Status start_trace(const std::string& path) {
    Trace& t = trace();
    std::lock_guard lock(t.mutex);
    if (is_on) return {};
    t.file.open(path, std::ios::binary);
    if (!t.file) return Error{Code::io, fmt::format("the trace file {} cannot be written", path)};
    t.start = Clock::now();
    t.file << "[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,"
              "\"args\":{\"name\":\"transcribe\"}}";
    is_on = true;
    return {};
}

void stop_trace() {
    Trace& t = trace();
    std::lock_guard lock(t.mutex);
    t.close();
}

Span::Span(const char* name) {
    if (!is_on.load(std::memory_order_relaxed)) return;
    name_ = name;
    put(name_, 'B');
}

Span::~Span() {
    if (name_) put(name_, 'E');
}

}  // namespace transcribe
