// What the program's end tells a script.
#pragma once

#include "base/error.h"

namespace transcribe::cli {

enum ExitCode {
    exit_done = 0,
    exit_some_failed =
        1,  // some input failed, the others are done; or a result could not be written
    exit_usage = 2,
    exit_model = 3,
    exit_audio = 4,
    exit_inference = 5,  // or memory
    exit_interrupted = 130,
    exit_closed_pipe = 141,  // nobody reads the results any more; what a shell reports for SIGPIPE
};

// `of_subject`: the code for faults of what was being read, a model or a recording.
inline ExitCode exit_code(const Error& error, ExitCode of_subject) {
    switch (error.code) {
        case Code::invalid_argument: return exit_usage;
        case Code::out_of_memory:
        case Code::backend:
        case Code::internal: return exit_inference;
        case Code::aborted: return exit_interrupted;
        case Code::bad_model: return exit_model;
        case Code::bad_audio: return exit_audio;
        case Code::not_found:
        case Code::unsupported:
        case Code::io: return of_subject;
    }
    return of_subject;
}

}  // namespace transcribe::cli
