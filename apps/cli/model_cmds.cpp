#include "cli/model_cmds.h"

#include <fmt/format.h>

#include "cli/model.h"
#include "cli/system.h"
#include "convert/inspect.h"
#include "engine/open.h"
#include "hub/hub.h"

namespace transcribe::cli {

namespace {

std::string size_text(size_t bytes) {
    return bytes ? fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9) : "-";
}

}  // namespace

Console plain_console(bool quiet) {
    const bool bar = !quiet && stderr_is_terminal();
    return Console(quiet ? Console::Talk::quiet : Console::Talk::normal,
                   bar ? Progress::Kind::bar : Progress::Kind::none);
}

Expected<ConvertReport> convert_with_progress(const std::string& source, const std::string& out,
                                              ConvertOptions options, Console& console) {
    console.progress().start("convert", Unit::count);
    options.on_progress = [&console](double share) { console.progress().update(share * 100, 100); };
    auto report = convert(source, out, options);
    console.progress().clear();
    return report;
}

std::string written_text(const ConvertReport& report, const std::string& out) {
    return fmt::format("wrote {}: {}, {} tensors, {:.1f} MB (from {:.1f}) in {}, error {:.5f}", out,
                       report.name, report.tensors.size(),
                       static_cast<double>(report.n_bytes()) / 1e6,
                       static_cast<double>(report.n_bytes_from()) / 1e6, report.type, report.error);
}

int run_convert(const ConvertArgs& args) {
    Console console = plain_console(args.quiet);
    ConvertOptions options;
    options.type = args.type;
    options.lm_directory = args.lm;
    const auto report = convert_with_progress(args.source, args.out, options, console);
    if (!report) return fail(console, report.error(), exit_model);
    console.note(written_text(*report, args.out));
    return exit_done;
}

int run_inspect(const NameArgs& args) {
    Console console = plain_console(false);
    const auto path = resolve_model(args.name, {.on_progress = nullptr, .offline = true});
    if (!path) return fail(console, path.error(), exit_model);
    const auto facts = inspect(*path);
    if (!facts) return fail(console, facts.error(), exit_model);
    console.result(*facts);
    return console.broken() ? console.broken_code() : exit_done;
}

int run_pull(const NameArgs& args) {
    Console console = plain_console(args.quiet);
    const auto path = pull(args.name, pull_with_progress(console));
    if (!path) return fail(console, path.error(), exit_model);
    console.result(*path + "\n");
    return console.broken() ? console.broken_code() : exit_done;
}

int run_models() {
    Console console = plain_console(false);
    const auto models = list_models();
    if (!models) return fail(console, models.error(), exit_model);
    std::string out = fmt::format("{:<20} {:>8} {:<12} {:<14} {}\n", "name", "MB", "licence",
                                  "languages", "cached file");
    for (const ModelEntry& entry : *models) {
        out += fmt::format("{:<20} {:>8} {:<12} {:<14} {}\n", entry.spec->name, entry.spec->size_mb,
                           entry.spec->license, entry.spec->languages,
                           entry.cached ? entry.path : "-");
    }
    console.result(out);
    return console.broken() ? console.broken_code() : exit_done;
}

int run_devices() {
    Console console = plain_console(false);
    std::string out = fmt::format("{:<12} {:<15} {:>9} {:>9}  {}\n", "name", "kind", "memory",
                                  "free", "description");
    for (const DeviceInfo& device : list_devices()) {
        out += fmt::format("{:<12} {:<15} {:>9} {:>9}  {}\n", device.name, device.kind,
                           size_text(device.total_bytes), size_text(device.free_bytes),
                           device.description);
    }
    console.result(out);
    return console.broken() ? console.broken_code() : exit_done;
}

}  // namespace transcribe::cli
