#include "cli/ask_cmd.h"

#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <iterator>

#include "base/text.h"
#include "cli/interrupt.h"
#include "cli/model.h"
#include "cli/system.h"

namespace transcribe::cli {

namespace {

std::string read_all(std::istream& from) {
    return {std::istreambuf_iterator<char>(from), {}};
}

// The question, and behind it what it is about.
Expected<std::string> text_of(const AskArgs& args) {
    if (args.about.empty()) return args.question;
    std::string about;
    if (args.about == "-") {
        about = read_all(std::cin);
    } else {
        std::ifstream file(args.about, std::ios::binary);
        if (!file) return Error{Code::not_found, args.about + ": the file cannot be read"};
        about = read_all(file);
    }
    return fmt::format("{}\n\n{}", args.question, trim(utf8_repair(about)));
}

}  // namespace

int run_ask(const AskArgs& args) {
    Console console(args.quiet ? Console::Talk::quiet : Console::Talk::normal);
    const auto text = text_of(args);
    if (!text) return fail(console, text.error(), exit_usage);
    auto machine = open_machine({args.model, args.open, args.session}, console);
    if (!machine) return fail(console, machine.error(), exit_model);
    CancelOnInterrupt scope(*machine->session);
    const auto answer = machine->session->answer(*text, args.options);
    if (interrupted()) return exit_interrupted;
    if (!answer) return fail(console, answer.error(), exit_inference);
    if (!answer->note.empty()) console.warning("", answer->note);
    console.result(answer->text + "\n");
    return console.broken() ? console.broken_code() : exit_done;
}

}  // namespace transcribe::cli
