// Where the time goes: spans with a beginning and an end, as JSON that trace viewers read
// (chrome://tracing, Perfetto, speedscope).
//
// Off until start_trace(): a Span then costs one relaxed load. The file is a list that gets its
// last bracket when the program ends; viewers also take the file of a program that was killed.
#pragma once

#include <string>

#include "base/error.h"

namespace transcribe {

// Spans that begin from now on go to this file; does nothing when a trace is being written.
// Errors: io.
Status start_trace(const std::string& path);
// Completes the file. Spans under way lose their end.
void stop_trace();

// From construction to destruction, on this thread. The name is a literal without quotes.
class Span {
  public:
    explicit Span(const char* name);
    ~Span();
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

  private:
    const char* name_ = nullptr;  // null when tracing was off at the beginning
};

}  // namespace transcribe
