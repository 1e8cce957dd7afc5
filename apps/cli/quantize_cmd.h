// `transcribe quantize`: a model file in another type, and what that costs.
#pragma once

#include "cli/args.h"

namespace transcribe::cli {

int run_quantize(const QuantizeArgs& args);

}  // namespace transcribe::cli
