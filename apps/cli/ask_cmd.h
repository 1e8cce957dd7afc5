// `transcribe ask`: what the language model of a model says to a text.
#pragma once

#include "cli/args.h"

namespace transcribe::cli {

int run_ask(const AskArgs& args);

}  // namespace transcribe::cli
