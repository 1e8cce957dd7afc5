// The commands about models and the machine: convert, inspect, pull, models, devices.
#pragma once

#include <string>

#include "cli/args.h"
#include "cli/console.h"
#include "convert/convert.h"

namespace transcribe::cli {

// A bar where standard error is a terminal.
Console plain_console(bool quiet);
Expected<ConvertReport> convert_with_progress(const std::string& source, const std::string& out,
                                              ConvertOptions options, Console& console);
std::string written_text(const ConvertReport& report, const std::string& out);

int run_convert(const ConvertArgs& args);
int run_inspect(const NameArgs& args);
int run_pull(const NameArgs& args);
int run_models();
int run_devices();

}  // namespace transcribe::cli
