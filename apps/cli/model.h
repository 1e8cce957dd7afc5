// A model as a command opens it: by path or by name, fetched with a progress line where it is not
// in the cache yet.
#pragma once

#include <memory>
#include <string>

#include "cli/console.h"
#include "engine/open.h"
#include "engine/session.h"
#include "hub/hub.h"

namespace transcribe::cli {

// Shows steps and bytes of a download.
PullOptions pull_with_progress(Console& console);

// A voice detector by path or name. Errors: those of resolve_model and open_voice_detector.
Expected<std::shared_ptr<const VoiceDetector>> open_voice(const std::string& model,
                                                          Console& console);

struct Machine {
    std::shared_ptr<const Model> model;
    std::unique_ptr<Session> session;
    double load_ms = 0;
};

struct MachineRequest {
    std::string model;
    OpenOptions open;
    SessionOptions session;
};

// Errors: those of resolve_model, open_model and Session::make.
Expected<Machine> open_machine(const MachineRequest& request, Console& console);

}  // namespace transcribe::cli
