#include "cli/interrupt.h"

#include <atomic>
#include <csignal>
#include <cstdlib>

#include "cli/exit_code.h"
#include "engine/session.h"

namespace transcribe::cli {

namespace {

// All that a signal handler may touch.
std::atomic<Session*> session_at_work{nullptr};
std::atomic<bool> seen{false};
static_assert(std::atomic<Session*>::is_always_lock_free);

void on_signal(int signal) {
    std::signal(signal, on_signal);  // some systems forget the handler when it runs
    Session* session = session_at_work.load();
    if (seen.exchange(true) || !session) std::_Exit(exit_interrupted);
    session->cancel();
}

}  // namespace

void catch_interrupts() {
    // A program started in the background ignores SIGINT, and goes on to.
    for (int signal : {SIGINT, SIGTERM}) {
        if (std::signal(signal, on_signal) == SIG_IGN) std::signal(signal, SIG_IGN);
    }
}

bool interrupted() {
    return seen.load();
}

CancelOnInterrupt::CancelOnInterrupt(Session& session) {
    session_at_work = &session;
}

CancelOnInterrupt::~CancelOnInterrupt() {
    session_at_work = nullptr;
}

}  // namespace transcribe::cli
