// Ctrl-C and SIGTERM: while a session works, the first one cancels it, so that what was decoded so
// far is written out; the second one, or one at any other time, ends the program at once.
#pragma once

namespace transcribe {
class Session;
}

namespace transcribe::cli {

void catch_interrupts();
bool interrupted();

// One at a time. The session must outlive it.
class CancelOnInterrupt {
  public:
    explicit CancelOnInterrupt(Session& session);
    CancelOnInterrupt(const CancelOnInterrupt&) = delete;
    CancelOnInterrupt& operator=(const CancelOnInterrupt&) = delete;
    ~CancelOnInterrupt();
};

}  // namespace transcribe::cli
