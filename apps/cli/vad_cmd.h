// `transcribe vad`: where somebody speaks.
#pragma once

#include "cli/args.h"

namespace transcribe::cli {

int run_vad(const VadArgs& args);

}  // namespace transcribe::cli
