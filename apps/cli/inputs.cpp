#include "cli/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/text.h"

namespace transcribe::cli {

namespace fs = std::filesystem;

namespace {

constexpr size_t n_list_bytes_max = size_t(256) << 20;

// Of audio and video that FFmpeg reads; a folder also holds pictures and texts, which it reads too.
constexpr std::string_view suffixes[] = {
    ".3g2", ".3gp", ".aac",  ".ac3", ".aif",  ".aifc", ".aiff", ".alac", ".amr", ".ape",
    ".asf", ".au",  ".avi",  ".caf", ".dff",  ".dsf",  ".dts",  ".eac3", ".f4v", ".flac",
    ".flv", ".gsm", ".m2ts", ".m4a", ".m4b",  ".m4v",  ".mka",  ".mkv",  ".mov", ".mp1",
    ".mp2", ".mp3", ".mp4",  ".mpc", ".mpeg", ".mpg",  ".mpga", ".mts",  ".mxf", ".nut",
    ".oga", ".ogg", ".ogm",  ".ogv", ".opus", ".ra",   ".rm",   ".snd",  ".spx", ".tak",
    ".tta", ".ts",  ".voc",  ".vob", ".w64",  ".wav",  ".webm", ".wma",  ".wmv", ".wv"};

bool is_recording(const fs::path& name) {
    std::string suffix = name.extension().string();
    std::transform(suffix.begin(), suffix.end(), suffix.begin(), [](unsigned char c) {
        return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    });
    return std::find(std::begin(suffixes), std::end(suffixes), suffix) != std::end(suffixes);
}

// One folder that the user named, walked through.
class Walk {
  public:
    explicit Walk(fs::path root) : root_(std::move(root)) {}

    std::vector<Input> inputs() {
        visit("");
        std::sort(found_.begin(), found_.end());
        for (const fs::path& each : found_) {
            inputs_.push_back({(root_ / each).string(), each.parent_path().string(), std::nullopt});
        }
        if (inputs_.empty()) {
            add_fault(root_, "holds no audio or video files, such as *.wav, *.mp3 or *.mp4");
        }
        return std::move(inputs_);
    }

  private:
    void add_fault(const fs::path& path, const std::string& what) {
        const std::string name = printable(path.string(), 4096);
        inputs_.push_back(
            {path.string(), "", Error{Code::bad_audio, fmt::format("{}: {}", name, what)}});
    }

    void visit(const fs::path& subfolder) {
        std::error_code failure;
        fs::directory_iterator entries(root_ / subfolder, failure);
        for (; !failure && entries != fs::directory_iterator(); entries.increment(failure)) {
            const fs::path name = entries->path().filename();
            std::error_code ignored;  // what vanishes meanwhile is none of both
            if (name.string().starts_with('.')) continue;
            if (entries->is_directory(ignored)) {
                if (!entries->is_symlink(ignored)) visit(subfolder / name);
            } else if (is_recording(name)) {
                found_.push_back(subfolder / name);
            }
        }
        if (failure) add_fault(root_ / subfolder, "cannot be read: " + failure.message());
    }

    fs::path root_;
    std::vector<fs::path> found_;  // below root_
    std::vector<Input> inputs_;
};

Expected<std::string> read_list(const std::string& path) {
    const std::string name = path == "-" ? "standard input" : printable(path);
    auto fault = [&](Code code, const std::string& why) {
        return Error{code, fmt::format("--files-from: {}: {}", name, why)};
    };
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(nullptr, std::fclose);
    if (path != "-") file.reset(std::fopen(path.c_str(), "rb"));
    if (path != "-" && !file) {
        return fault(errno == ENOENT ? Code::not_found : Code::io, std::strerror(errno));
    }
    std::FILE* from = file ? file.get() : stdin;
    std::string bytes;
    char block[1 << 14];
    for (size_t n; (n = std::fread(block, 1, sizeof block, from)) > 0;) {
        bytes.append(block, n);
        if (bytes.size() > n_list_bytes_max) {
            return fault(Code::invalid_argument, "is over 256 MiB, which is no list of names");
        }
    }
    if (std::ferror(from)) return fault(Code::io, std::strerror(errno));
    return bytes;
}

void append(const std::string& name, std::vector<Input>& inputs) {
    std::error_code ignored;  // what cannot be asked is a file that cannot be opened
    if (name != "-" && fs::is_directory(name, ignored)) {
        for (Input& input : Walk(name).inputs()) inputs.push_back(std::move(input));
    } else {
        inputs.push_back({name, "", std::nullopt});
    }
}

}  // namespace

std::vector<std::string> names_of_list(std::string_view list) {
    const bool zeros = list.find('\0') != list.npos;
    std::vector<std::string> names;
    while (!list.empty()) {
        const size_t end = std::min(list.find(zeros ? '\0' : '\n'), list.size());
        std::string_view name = list.substr(0, end);
        if (!zeros && name.ends_with('\r')) name.remove_suffix(1);
        if (!trim(name).empty()) names.emplace_back(name);
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return names;
}

Expected<std::vector<Input>> find_inputs(const TranscribeArgs& args) {
    std::vector<Input> inputs;
    if (args.stream.live) inputs.push_back({"live", "", std::nullopt});
    for (const std::string& name : args.files) append(name, inputs);
    if (args.files_from.empty()) return inputs;
    TRY_SET(const std::string list, read_list(args.files_from));
    for (const std::string& name : names_of_list(list)) append(name, inputs);
    if (!inputs.empty()) return inputs;
    return Error{Code::invalid_argument,
                 fmt::format("--files-from: {} names no file", printable(args.files_from))};
}

}  // namespace transcribe::cli
