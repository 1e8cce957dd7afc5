// `transcribe AUDIO...`: open the model, decode each recording, deliver, count what failed.
#pragma once

#include "cli/args.h"

namespace transcribe::cli {

int run_transcribe(const TranscribeArgs& args);

}  // namespace transcribe::cli
