// A caller's options and recordings on their way into a session, and its transcripts back.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "api/objects.h"

namespace transcribe::api {

// A caller's options as this session's model can do them. Throws TRANSCRIBE_INVALID_ARG and
// TRANSCRIBE_UNSUPPORTED_...
Options session_options(const SessionObject& session, const transcribe_run_options& given);

// Recordings, each with a result in order; those that cannot be opened have only a status. Throws
// where nothing could be run.
std::vector<std::shared_ptr<ResultObject>> run(SessionObject& session,
                                               std::span<const transcribe_clip> clips,
                                               const transcribe_run_options* options);

}  // namespace transcribe::api
