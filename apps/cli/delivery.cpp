#include "cli/delivery.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "output/cues.h"
#include "output/events.h"
#include "output/file.h"

namespace transcribe::cli {

Delivery::Style Delivery::style() const {
    if (!args_.output_dir.empty()) return Style::files;
    if (args_.formats.empty()) return Style::lines;
    return std::string(args_.formats[0]->name) == "jsonl" ? Style::events : Style::document;
}

bool Delivery::is_live() const {
    // Lines of recordings that are decoded together would mix.
    const bool one_by_one = args_.session.batch_size <= 1 || n_jobs_ == 1;
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
        console_.result(args_.formats[0]->write(transcript, {job.input, args_.layout}));
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
    const bool whole = transcript.outcome == Outcome::complete;
    const auto folder = std::filesystem::path(job.stem).parent_path();
    if (!folder.empty()) TRY(make_folder(folder.string()));
    for (const Writer* writer : args_.formats) {
        const std::string partial = partial_path(job, *writer);
        const std::string path = whole ? output_path(job, *writer) : partial;
        TRY(write_file(path, writer->write(transcript, {job.input, args_.layout})));
        console_.note("wrote " + path);
        std::error_code ignored;  // it may not be there
        if (whole) std::filesystem::remove(partial, ignored);
    }
    return {};
}

void Delivery::failed(const Job& job, const Error& error) {
    console_.error(job.input, error.what);
    if (style() == Style::events) console_.result(error_event(job.input, error) + "\n");
}

}  // namespace transcribe::cli
