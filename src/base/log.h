// What the library has to tell: one sink for the whole process, given by the program that uses it.
// Without one, as at first, nothing is told; the library itself prints nothing.
#pragma once

#include <functional>
#include <string>

namespace transcribe {

enum class LogLevel { error, warning, info, debug };
using LogSink = std::function<void(LogLevel, const std::string& text)>;

// Empty: none. A sink is called in any thread, also by calls that began before it was replaced.
void set_log_sink(LogSink sink);
void log(LogLevel level, const std::string& text);

}  // namespace transcribe
