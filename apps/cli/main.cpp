// `transcribe`: finds the command, parses its arguments, runs it.
#include <fmt/format.h>

#include <exception>
#include <string>
#include <vector>

#include "cli/args.h"
#include "cli/ask_cmd.h"
#include "cli/bench_cmd.h"
#include "cli/console.h"
#include "cli/interrupt.h"
#include "cli/model_cmds.h"
#include "cli/quantize_cmd.h"
#include "cli/system.h"
#include "cli/transcribe_cmd.h"
#include "cli/vad_cmd.h"

namespace transcribe::cli {

namespace {

using Words = std::vector<std::string>;

int show(const std::string& text) {
    Console console(Console::Talk::normal);
    console.result(text);
    return console.broken() ? console.broken_code() : exit_done;
}

// `args` as a parse_* function gives them.
template <class Args>
int run(const Expected<Args>& args, int (*command)(const Args&)) {
    if (!args) {
        Console console(Console::Talk::normal);
        return fail(console, args.error(), exit_usage);
    }
    return args->show.empty() ? command(*args) : show(args->show);
}

int run_without_args(const Expected<std::string>& text, int (*command)()) {
    if (!text) {
        Console console(Console::Talk::normal);
        return fail(console, text.error(), exit_usage);
    }
    return text->empty() ? command() : show(*text);
}

int dispatch(const Words& words) {
    const std::string command = words.empty() ? "" : words[0];
    const Words rest(words.begin() + (words.empty() ? 0 : 1), words.end());
    if (command == "convert") return run(parse_convert(rest), run_convert);
    if (command == "quantize") return run(parse_quantize(rest), run_quantize);
    if (command == "inspect") return run(parse_inspect(rest), run_inspect);
    if (command == "bench") return run(parse_bench(rest), run_bench);
    if (command == "pull") return run(parse_pull(rest), run_pull);
    if (command == "ask") return run(parse_ask(rest), run_ask);
    if (command == "vad") return run(parse_vad(rest), run_vad);
    if (command == "models") {
        const char* summary = "Lists the models that have a name, and those that are here already.";
        return run_without_args(parse_nothing(command, summary, rest), run_models);
    }
    if (command == "devices") {
        const char* summary = "Lists what can compute: names for --device.";
        return run_without_args(parse_nothing(command, summary, rest), run_devices);
    }
    return run(parse_transcribe(words), run_transcribe);
}

int guarded(const Words& words) {
    Console console(Console::Talk::normal);
    try {
        return dispatch(words);
    } catch (const std::bad_alloc&) {
        console.error("", "out of memory");
    } catch (const std::exception& bug) {
        console.error(
            "", fmt::format("this is a fault of the program, please report it: {}", bug.what()));
    }
    return exit_inference;
}

}  // namespace

}  // namespace transcribe::cli

int main(int argc, char** argv) {
    namespace cli = transcribe::cli;
    cli::prepare_streams();
    cli::catch_interrupts();
    cli::ignore_broken_pipe();
    return cli::guarded({argv + 1, argv + argc});
}
