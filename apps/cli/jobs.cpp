#include "cli/jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/text.h"
#include "output/file.h"

namespace transcribe::cli {

namespace fs = std::filesystem;

namespace {

// The same text for all ways to write one path.
std::string canonical(const std::string& path) {
    std::error_code failure;
    const fs::path found = fs::weakly_canonical(path, failure);
    return failure ? fs::path(path).lexically_normal().string() : found.string();
}

Status check_collisions(const std::vector<Job>& jobs, const TranscribeArgs& args) {
    std::set<std::string> inputs;
    for (const Job& job : jobs) inputs.insert(canonical(job.input));
    std::map<std::string, const Job*> taken;
    for (const Job& job : jobs) {
        if (job.fault) continue;
        const auto [other, is_new] = taken.emplace(canonical(job.stem), &job);
        if (!is_new) {
            return Error{Code::invalid_argument,
                         fmt::format("{} and {} would both be written to {}.*; rename one, use "
                                     "another folder for it, or name a folder that holds both as "
                                     "AUDIO: its subfolders are kept",
                                     printable(other->second->input), printable(job.input),
                                     printable(job.stem))};
        }
        for (const Writer* writer : args.formats) {
            const std::string path = output_path(job, *writer);
            if (!inputs.contains(canonical(path))) continue;
            return Error{Code::invalid_argument,
                         fmt::format("{} is an input, and would be overwritten", printable(path))};
        }
    }
    return {};
}

std::string stem_of(const Input& input, const std::string& output_dir) {
    if (output_dir.empty()) return {};
    const fs::path name = input.path == "-" ? fs::path("stdin") : fs::path(input.path).stem();
    return (fs::path(output_dir) / input.subfolder / name).string();
}

}  // namespace

Expected<std::vector<Job>> plan(const TranscribeArgs& args) {
    TRY_SET(const auto inputs, find_inputs(args));
    std::vector<Job> jobs;
    for (const Input& input : inputs) {
        jobs.push_back({input.path, stem_of(input, args.output_dir), input.fault});
    }
    if (args.output_dir.empty()) {
        const bool joins = args.formats.empty() || args.formats[0]->streams;
        if (jobs.size() < 2 || joins) return jobs;
        return Error{Code::invalid_argument,
                     fmt::format("{} recordings in one output of the format {} cannot be read: use "
                                 "-o DIR; see 'transcribe --help'",
                                 jobs.size(), args.formats[0]->name)};
    }
    TRY(check_collisions(jobs, args));
    TRY(make_folder(args.output_dir));
    return jobs;
}

std::string output_path(const Job& job, const Writer& writer) {
    return fmt::format("{}.{}", job.stem, writer.name);
}

std::string partial_path(const Job& job, const Writer& writer) {
    return fmt::format("{}.partial.{}", job.stem, writer.name);
}

bool is_done(const Job& job, const TranscribeArgs& args) {
    if (job.stem.empty()) return false;
    return std::all_of(args.formats.begin(), args.formats.end(), [&job](const Writer* writer) {
        std::error_code ignored;
        return fs::is_regular_file(output_path(job, *writer), ignored);
    });
}

Status check_job(const Job& job, const TranscribeArgs& args) {
    if (job.fault) return *job.fault;
    if (job.stem.empty()) return {};
    for (const Writer* writer : args.formats) TRY(check_file_name(output_path(job, *writer)));
    return {};
}

Status make_folder(const std::string& folder) {
    std::error_code failure;
    fs::create_directories(folder, failure);
    if (fs::is_directory(folder)) return {};
    const std::string why = failure ? failure.message() : "it is not a folder";
    return Error{Code::io, fmt::format("--output-dir: the folder {} cannot be made: {}",
                                       printable(folder), why)};
}

}  // namespace transcribe::cli
