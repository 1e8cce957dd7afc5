#include "cli/delivery.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <set>

#include "base/text.h"
#include "output/cues.h"
#include "output/events.h"
#include "output/file.h"

namespace transcribe::cli {

namespace fs = std::filesystem;

namespace {

std::string output_path(const Job& job, const Writer& writer) {
    return fmt::format("{}.{}", job.stem, writer.name);
}

// The same text for all ways to write one path.
std::string canonical(const std::string& path) {
    std::error_code failure;
    const fs::path found = fs::weakly_canonical(path, failure);
    return failure ? fs::path(path).lexically_normal().string() : found.string();
}

Status make_folder(const std::string& folder) {
    std::error_code failure;
    fs::create_directories(folder, failure);
    if (fs::is_directory(folder)) return {};
    const std::string why = failure ? failure.message() : "it is not a folder";
    return Error{
        Code::invalid_argument,
        fmt::format("--output-dir: the folder {} cannot be made: {}", printable(folder), why)};
}

Status check_collisions(const std::vector<Job>& jobs, const TranscribeArgs& args) {
    std::set<std::string> inputs;
    for (const Job& job : jobs) inputs.insert(canonical(job.input));
    std::map<std::string, const Job*> taken;
    for (const Job& job : jobs) {
        const auto [other, is_new] = taken.emplace(canonical(job.stem), &job);
        if (!is_new) {
            return Error{Code::invalid_argument,
                         fmt::format("{} and {} would both be written to {}.*; rename one, or use "
                                     "another folder for it",
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

}  // namespace

Expected<std::vector<Job>> plan(const TranscribeArgs& args) {
    std::vector<Job> jobs;
    for (const std::string& input : args.files) {
        const fs::path name = input == "-" ? fs::path("stdin") : fs::path(input).stem();
        const std::string stem =
            args.output_dir.empty() ? "" : (fs::path(args.output_dir) / name).string();
        jobs.push_back({input, stem});
    }
    if (args.output_dir.empty()) return jobs;
    TRY(check_collisions(jobs, args));
    TRY(make_folder(args.output_dir));
    return jobs;
}

Status check_outputs(const Job& job, const TranscribeArgs& args) {
    if (job.stem.empty()) return {};
    for (const Writer* writer : args.formats) TRY(check_file_name(output_path(job, *writer)));
    return {};
}

Delivery::Style Delivery::style() const {
    if (!args_.output_dir.empty()) return Style::files;
    if (args_.formats.empty()) return Style::lines;
    return std::string(args_.formats[0]->name) == "jsonl" ? Style::events : Style::document;
}

bool Delivery::is_live() const {
    // Lines of recordings that are decoded together would mix.
    const bool one_by_one = args_.session.batch_size == 1 || args_.files.size() == 1;
    return one_by_one && (style() == Style::lines || style() == Style::events);
}

void Delivery::segment(const Job& job, const Segment& segment) {
    if (style() == Style::events) {
        console_.result(segment_event(job.input, segment) + "\n");
        return;
    }
    if (auto cue = make_cue(segment, 0)) {
        console_.result((args_.show_times ? cue_line(*cue) : cue->text) + "\n");
    }
}

Status Delivery::finish(const Job& job, const Transcript& transcript) {
    if (style() == Style::files) return write_files(job, transcript);
    if (style() == Style::document) {
        console_.result(args_.formats[0]->write(transcript, {.file = job.input}));
        return {};
    }
    if (!is_live()) {
        for (const Segment& each : transcript.segments) {
            segment(job, within(each, transcript.duration_s));
        }
    }
    if (style() == Style::events) console_.result(done_event(job.input, transcript) + "\n");
    return {};
}

Status Delivery::write_files(const Job& job, const Transcript& transcript) {
    for (const Writer* writer : args_.formats) {
        const std::string path = output_path(job, *writer);
        TRY(write_file(path, writer->write(transcript, {.file = job.input})));
        console_.note("wrote " + path);
    }
    return {};
}

void Delivery::failed(const Job& job, const Error& error) {
    console_.error(job.input, error.what);
    if (style() == Style::events) console_.result(error_event(job.input, error) + "\n");
}

}  // namespace transcribe::cli
