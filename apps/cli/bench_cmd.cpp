#include "cli/bench_cmd.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "audio/decode.h"
#include "cli/bench_stream.h"
#include "cli/interrupt.h"
#include "cli/model.h"
#include "cli/system.h"

namespace transcribe::cli {

namespace {

// Milliseconds of one stage in every run. `n_units`: how often it ran in one run, 0 for "once".
struct Stage {
    const char* name;
    const char* unit;
    int n_units;
    std::vector<double> ms;
};

struct Report {
    std::string model, audio;
    double duration_s = 0;
    int n_runs = 0, n_tokens = 0;
    std::vector<Stage> stages;
    double total_ms = 0;
    std::int64_t peak_bytes = 0;

    double real_time_factor() const { return duration_s > 0 ? total_ms / 1000 / duration_s : 0; }
    double tokens_per_s() const { return total_ms > 0 ? n_tokens * 1000 / total_ms : 0; }
};

std::vector<Stage> stages_of(const std::vector<Transcript>& runs) {
    const Timings& first = runs[0].timings;
    std::vector<Stage> stages = {{"audio", "", 0, {}},
                                 {"mel", "window", first.n_windows, {}},
                                 {"encode", "window", first.n_windows, {}},
                                 {"prefill", "window", first.n_windows, {}},
                                 {"step", "step", first.n_steps, {}},
                                 {"total", "", 0, {}}};
    for (const Transcript& run : runs) {
        const Timings& t = run.timings;
        const double values[] = {t.audio, t.mel, t.encode, t.prefill, t.step, t.total};
        for (size_t i = 0; i < stages.size(); i++) stages[i].ms.push_back(values[i]);
    }
    return stages;
}

void print_text(const Report& report, Console& console) {
    std::string out = fmt::format("model  {}\naudio  {} ({:.2f} s)\nmedian of {} runs\n\n",
                                  report.model, report.audio, report.duration_s, report.n_runs);
    out += fmt::format("{:<8} {:>11} {:>8} {:>16}\n", "stage", "ms", "share", "ms a unit");
    for (const Stage& stage : report.stages) {
        const double ms = quantile(stage.ms, 0.5);
        const bool part_of_run = std::string_view(stage.name) != "load" && report.total_ms > 0;
        out += fmt::format("{:<8} {:>11.2f} {:>8}", stage.name, ms,
                           part_of_run ? fmt::format("{:.1f}%", ms / report.total_ms * 100) : "");
        if (stage.n_units > 0) {
            out +=
                fmt::format(" {:>9.3f} x {:<6} {}s", ms / stage.n_units, stage.n_units, stage.unit);
        }
        out += "\n";
    }
    out += fmt::format("\nreal-time factor  {:.4f} ({:.1f} times faster than the recording)\n",
                       report.real_time_factor(),
                       report.total_ms > 0 ? 1 / report.real_time_factor() : 0);
    out += fmt::format("tokens            {} ({:.1f} a second)\npeak memory       {:.1f} MB\n",
                       report.n_tokens, report.tokens_per_s(),
                       static_cast<double>(report.peak_bytes) / 1e6);
    console.result(out);
}

void print_json(const Report& report, Console& console) {
    nlohmann::ordered_json stages = nlohmann::ordered_json::object();
    for (const Stage& stage : report.stages) {
        auto& entry = stages[stage.name];
        entry = {{"median_ms", quantile(stage.ms, 0.5)}, {"runs_ms", stage.ms}};
        if (stage.n_units > 0) {
            entry["units"] = stage.n_units;
            entry["ms_per_unit"] = quantile(stage.ms, 0.5) / stage.n_units;
        }
    }
    const nlohmann::ordered_json value = {{"model", report.model},
                                          {"audio", report.audio},
                                          {"duration_s", report.duration_s},
                                          {"runs", report.n_runs},
                                          {"stages", std::move(stages)},
                                          {"real_time_factor", report.real_time_factor()},
                                          {"tokens", report.n_tokens},
                                          {"tokens_per_s", report.tokens_per_s()},
                                          {"peak_memory_bytes", report.peak_bytes}};
    console.result(value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

Expected<Transcript> run_once(const BenchArgs& args, Session& session) {
    TRY_SET(auto file, AudioFile::open(args.file));
    AudioSource* source = file.get();
    Options options;
    options.language = args.language;
    TRY_SET(auto transcripts, session.transcribe({&source, 1}, options));
    Transcript& transcript = transcripts[0];
    if (!transcript.error.what.empty()) return transcript.error;
    return std::move(transcript);
}

Expected<Report> measure(const BenchArgs& args, Machine& machine, Console& console) {
    std::vector<Transcript> runs;
    CancelOnInterrupt scope(*machine.session);
    for (int i = 0; i <= args.n_runs; i++) {  // the first one warms up
        console.progress().update(i, args.n_runs + 1);
        TRY_SET(auto run, run_once(args, *machine.session));
        if (i > 0) runs.push_back(std::move(run));
    }
    console.progress().clear();
    Report report;
    report.model = args.model;
    report.audio = args.file;
    report.duration_s = runs[0].duration_s;
    report.n_runs = args.n_runs;
    report.n_tokens = runs[0].timings.n_tokens;
    report.stages = stages_of(runs);
    report.total_ms = quantile(report.stages.back().ms, 0.5);
    report.stages.insert(report.stages.begin(), {"load", "", 0, {machine.load_ms}});
    report.peak_bytes = peak_memory_bytes();
    return report;
}

}  // namespace

int run_bench(const BenchArgs& args) {
    Console console(Console::Talk::normal,
                    stderr_is_terminal() ? Progress::Kind::bar : Progress::Kind::none);
    auto machine = open_machine({args.model, args.open, args.session}, console);
    if (!machine) return fail(console, machine.error(), exit_model);
    if (args.stream) return bench_stream(args, *machine, console);
    console.progress().start("runs", Unit::count);
    auto report = measure(args, *machine, console);
    if (!report) return fail(console, report.error(), exit_audio);
    args.json ? print_json(*report, console) : print_text(*report, console);
    return console.broken() ? console.broken_code() : exit_done;
}

}  // namespace transcribe::cli
