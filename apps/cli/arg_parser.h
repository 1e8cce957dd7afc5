// A command line: CLI11 with strict numbers, faults in one line, and the spellings that users of
// the `whisper` command have in their fingers.
//
// On top of CLI11: `--output_dir` is `--output-dir`; `--verbose False` is `--verbose=false`; an
// option whose value is missing is told so, even when another option follows; whatever stands after
// `--` is a file. A number is the whole of its text: "2.5" is no count and "abc" is not 0.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace transcribe::cli {

struct Range {
    double min, max;
};

class ArgParser {
  public:
    // `program` as a user types it: "transcribe bench".
    ArgParser(const std::string& program, const std::string& summary);

    // The heading in --help of the options that follow.
    void group(const std::string& heading) { group_ = heading; }
    void flag(const std::string& names, bool& value, const std::string& help);
    void boolean(const std::string& names, bool& value, const std::string& help);
    // The same, and whether it was given.
    void boolean(const std::string& names, std::optional<bool>& value, const std::string& help);
    void text(const std::string& names, std::string& value, const std::string& help);
    void name(const std::string& names, const std::string& type, std::string& value,
              const std::string& help);  // text that is not blank
    void integer(const std::string& names, int& value, Range, const std::string& help);
    void integer(const std::string& names, unsigned& value, Range, const std::string& help);
    void number(const std::string& names, double& value, Range, const std::string& help);
    void number(const std::string& names, float& value, Range, const std::string& help);
    // A number, or "None", which gives `if_none`.
    struct NumberOrNone {
        Range range;
        float if_none;
    };
    void number(const std::string& names, float& value, NumberOrNone, const std::string& help);
    void integer(const std::string& names, int& value, NumberOrNone, const std::string& help);
    // The same with nothing for "None".
    void number(const std::string& names, std::optional<float>& value, Range,
                const std::string& help);
    // Only values that `set` accepts: it returns what was expected instead, or nothing.
    using Setter = std::function<std::string(const std::string& value)>;
    void checked(const std::string& names, const std::string& type, Setter set,
                 const std::string& help);
    // Arguments without a name; any number of files, of the others exactly one.
    void argument(const std::string& name, std::string& value, const std::string& help);
    void files(const std::string& name, std::vector<std::string>& values, const std::string& help);
    void examples(const std::string& text) { app_.footer(text); }
    void version(const std::string& text);

    // A fault of the command line, with the hint to --help. Error: invalid_argument.
    Error fault(const std::string& what) const;

    // Fills the values. What to print instead of working (--help, --version), or nothing.
    // Errors: invalid_argument, one line that ends with a hint to --help.
    Expected<std::string> parse(std::vector<std::string> args);

  private:
    const CLI::Option* find(const std::string& name) const;
    std::string dashed(const std::string& arg) const;
    Expected<std::vector<std::string>> normalize(const std::vector<std::string>& args) const;
    Expected<std::string> run_cli11(std::vector<std::string> args);
    std::string help() const;

    CLI::App app_;
    std::string group_ = "Options";
    std::vector<std::string>* files_ = nullptr;
};

// The whole of `text` as a number; false where it is none, or not finite.
bool parse_number(const std::string& text, double& value);
// "a,b" -> "a", "b"; "" is one empty part.
std::vector<std::string> split(const std::string& list, char separator);

}  // namespace transcribe::cli
