// From what the user named (files, folders, lists of them) to the recordings to read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/args.h"

namespace transcribe::cli {

struct Input {
    std::string path;            // as it is opened and shown
    std::string subfolder;       // below the folder that was named; empty for a file
    std::optional<Error> fault;  // known already: a folder that is empty or cannot be read
};

// A microphone is one input, "live". Files in the order given; those of a folder sorted by path,
// without hidden ones and without following links to folders. Errors, before any work: where the
// list cannot be read or names nothing (not_found, io, invalid_argument).
Expected<std::vector<Input>> find_inputs(const TranscribeArgs& args);

// The names in a list: with a zero byte after each, or else one a line; blank lines do not count.
std::vector<std::string> names_of_list(std::string_view list);

}  // namespace transcribe::cli
