// The commands about models and the machine: convert, inspect, pull, models, devices.
#pragma once

#include "cli/args.h"

namespace transcribe::cli {

int run_convert(const ConvertArgs& args);
int run_inspect(const NameArgs& args);
int run_pull(const NameArgs& args);
int run_models();
int run_devices();

}  // namespace transcribe::cli
