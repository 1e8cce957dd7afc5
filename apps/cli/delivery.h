// Where transcripts go: files of a folder (-o), or standard output as lines, as events, or as one
// document a recording.
#pragma once

#include "asr/types.h"
#include "cli/args.h"
#include "cli/console.h"
#include "cli/jobs.h"

namespace transcribe::cli {

class Delivery {
  public:
    Delivery(const TranscribeArgs& args, Console& console, size_t n_jobs)
        : args_(args), console_(console), n_jobs_(n_jobs) {}

    enum class Style { files, lines, events, document };
    Style style() const;
    // Does it print segments as they are decoded?
    bool is_live() const;
    void segment(const Job& job, const Segment& segment);
    // The rest, when the recording is done or was interrupted. Errors: io.
    Status finish(const Job& job, const Transcript& transcript);
    void failed(const Job& job, const Error& error);

  private:
    Status write_files(const Job& job, const Transcript& transcript);

    const TranscribeArgs& args_;
    Console& console_;
    const size_t n_jobs_;
};

}  // namespace transcribe::cli
