#include "cli/quantize_cmd.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/model_cmds.h"
#include "hub/hub.h"

namespace transcribe::cli {

namespace {

double megabytes(size_t n_bytes) {
    return static_cast<double>(n_bytes) / 1e6;
}

// The tensors whose type changed.
void print_text(const ConvertReport& report, Console& console) {
    std::string out = fmt::format("{:<40} {:>5}    {:<5} {:>9}    {:<9} {}\n", "tensor", "from",
                                  "to", "MB", "MB", "error");
    for (const StoredTensor& tensor : report.tensors) {
        if (tensor.from == tensor.to) continue;
        out += fmt::format("{:<40} {:>5} -> {:<5} {:>9.3f} -> {:<9.3f} {:.6f}\n", tensor.name,
                           dtype_name(tensor.from), dtype_name(tensor.to),
                           megabytes(tensor.n_bytes_from), megabytes(tensor.n_bytes), tensor.error);
    }
    console.result(out);
}

void print_json(const ConvertReport& report, const std::string& path, Console& console) {
    auto tensors = nlohmann::ordered_json::array();
    for (const StoredTensor& tensor : report.tensors) {
        tensors.push_back({{"name", tensor.name},
                           {"from", dtype_name(tensor.from)},
                           {"to", dtype_name(tensor.to)},
                           {"bytes_from", tensor.n_bytes_from},
                           {"bytes", tensor.n_bytes},
                           {"error", tensor.error}});
    }
    const nlohmann::ordered_json value = {{"file", path},
                                          {"model", report.name},
                                          {"type", report.type},
                                          {"bytes_from", report.n_bytes_from()},
                                          {"bytes", report.n_bytes()},
                                          {"error", report.error},
                                          {"tensors", std::move(tensors)}};
    console.result(value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace

int run_quantize(const QuantizeArgs& args) {
    Console console = plain_console(args.quiet);
    const auto path = resolve_model(args.model, {.on_progress = nullptr, .offline = true});
    if (!path) return fail(console, path.error(), exit_model);
    ConvertOptions options;
    options.type = args.type;
    const auto report = convert_with_progress(*path, args.out, options, console);
    if (!report) return fail(console, report.error(), exit_model);
    if (args.json)
        print_json(*report, args.out, console);
    else if (!args.quiet)
        print_text(*report, console);
    console.note(written_text(*report, args.out));
    return console.broken() ? console.broken_code() : exit_done;
}

}  // namespace transcribe::cli
