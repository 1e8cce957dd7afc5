// The groups of options of `transcribe AUDIO...`, one function each; parse_transcribe puts them
// together.
#pragma once

#include "cli/arg_parser.h"
#include "cli/args.h"

namespace transcribe::cli {

// What was given and becomes something else, or must be checked with other options.
struct Switches {
    bool translate = false, without_timestamps = false, no_times = false;
    bool progress = false, no_progress = false;
    bool patience = false;
};

void add_speech(ArgParser& parser, TranscribeArgs& args, Switches& on);
void add_language(ArgParser& parser, std::string& language);
void add_output(ArgParser& parser, TranscribeArgs& args, Switches& on);
void add_decoding(ArgParser& parser, Options& options, Switches& on);
void add_words(ArgParser& parser, Options& options);

// Options that contradict each other. Errors: invalid_argument.
Status check_speech(const ArgParser& parser, const TranscribeArgs& args);
Status check_output(const ArgParser& parser, const TranscribeArgs& args, const Switches& on);
Status check_decoding(const ArgParser& parser, const Options& options, const Switches& on);

// What is left to settle when all is parsed: defaults that depend on other options, and warnings.
void settle_output(TranscribeArgs& args, const Switches& on);
void settle_words(TranscribeArgs& args);

}  // namespace transcribe::cli
