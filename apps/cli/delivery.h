// Where transcripts go: files of a folder (-o), or standard output as lines, as events, or as one
// document a recording.
#pragma once

#include <string>
#include <vector>

#include "asr/types.h"
#include "cli/args.h"
#include "cli/console.h"

namespace transcribe::cli {

struct Job {
    std::string input;  // as the user gave it
    std::string stem;   // DIR/NAME of its output files; empty without -o
};

// The jobs of all inputs; makes the folder. Errors, before any work: invalid_argument, where two
// inputs would write the same file, one would overwrite an input, or the folder cannot be.
Expected<std::vector<Job>> plan(const TranscribeArgs& args);

// Faults of a job that can be told without decoding. Errors: io (an output's name is too long).
Status check_outputs(const Job& job, const TranscribeArgs& args);

class Delivery {
  public:
    Delivery(const TranscribeArgs& args, Console& console) : args_(args), console_(console) {}

    // Does it print segments as they are decoded?
    bool is_live() const;
    void segment(const Job& job, const Segment& segment);
    // The rest, when the recording is done or was interrupted. Errors: io.
    Status finish(const Job& job, const Transcript& transcript);
    void failed(const Job& job, const Error& error);

  private:
    enum class Style { files, lines, events, document };
    Style style() const;
    Status write_files(const Job& job, const Transcript& transcript);

    const TranscribeArgs& args_;
    Console& console_;
};

}  // namespace transcribe::cli
