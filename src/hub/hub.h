// Models by name: looks in the user's cache, and else downloads and converts, once.
//
// The cache is $XDG_CACHE_HOME/transcribe/models (default ~/.cache/transcribe/models).
// NAME-f16.gguf there (NAME-f32.gguf of the voice detector) is always whole: it is written under
// another name and renamed. A file that the user puts there as NAME.gguf has a name as well.
#pragma once

#include <string>
#include <vector>

#include "hub/sources.h"

namespace transcribe {

struct PullOptions {
    OnProgress on_progress;
    bool offline = false;  // the cache only
};

struct ModelEntry {
    const ModelSpec* spec = nullptr;
    bool cached = false;
    std::string path;  // where it is, or would be
};

// The path of the model's GGUF file, after a download where it was not cached. Of two calls at
// once, also of two processes, one works and the other waits. Errors: not_found (no such name,
// offline), io (no source works), bad_model.
Expected<std::string> pull(const std::string& name, const PullOptions& options = {});

// What a user may give as a model: the path of a file, or a name. A file that exists wins.
Expected<std::string> resolve_model(const std::string& name_or_path,
                                    const PullOptions& options = {});

// All known models. Errors: not_found (no home).
Expected<std::vector<ModelEntry>> list_models();

// Where models are kept. Errors: not_found (no home).
Expected<std::string> models_dir();

}  // namespace transcribe
