// `transcribe --live` and `transcribe --stream AUDIO`: text of sound while it comes.
#pragma once

#include "cli/args.h"
#include "cli/console.h"
#include "cli/jobs.h"

namespace transcribe::cli {

// Until the sound ends, or Ctrl-C: then what was heard is written out. Ctrl-C is how --live ends;
// else it is an interruption.
ExitCode run_stream(const TranscribeArgs& args, const Job& job, Console& console, Session& session);

}  // namespace transcribe::cli
