// `transcribe bench --stream`: a recording as if it were being spoken now.
#pragma once

#include <vector>

#include "cli/args.h"
#include "cli/console.h"
#include "cli/model.h"

namespace transcribe::cli {

int bench_stream(const BenchArgs& args, Machine& machine, Console& console);

// The value below which `share` of them lie, between two of them in proportion; 0 of none.
double quantile(std::vector<double> values, double share);

}  // namespace transcribe::cli
