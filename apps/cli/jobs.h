// Which recordings are read, and which files each of them becomes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/args.h"
#include "cli/inputs.h"

namespace transcribe::cli {

struct Job {
    std::string input;           // as the user gave it, or below a folder that was given
    std::string stem;            // DIR/SUBFOLDER/NAME of its output files; empty without -o
    std::optional<Error> fault;  // known before reading
};

// The jobs of all inputs; makes the output folder. Errors, before any work: those of find_inputs;
// invalid_argument, where several results would share one stream that cannot be read then, two
// inputs would write the same file, or one would overwrite an input; io, where the folder cannot be
// made.
Expected<std::vector<Job>> plan(const TranscribeArgs& args);

// DIR/NAME.FORMAT; of what was interrupted DIR/NAME.partial.FORMAT, so that the first is whole
// wherever it exists.
std::string output_path(const Job& job, const Writer& writer);
std::string partial_path(const Job& job, const Writer& writer);

// Do all its output files exist? False without -o.
bool is_done(const Job& job, const TranscribeArgs& args);

// Faults of a job that can be told without decoding. Errors: those of find_inputs; io (an output's
// name is too long).
Status check_job(const Job& job, const TranscribeArgs& args);

// Errors: io.
Status make_folder(const std::string& folder);

}  // namespace transcribe::cli
