// `transcribe bench`: what each stage costs on one recording.
#pragma once

#include "cli/args.h"

namespace transcribe::cli {

int run_bench(const BenchArgs& args);

}  // namespace transcribe::cli
