#include "cli/arg_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <type_traits>

#include "base/text.h"

namespace transcribe::cli {

namespace {

bool parse_integer(const std::string& text, double& value) {
    const bool digits_only = text.find_first_not_of("+-0123456789") == std::string::npos;
    return digits_only && parse_number(text, value);
}

// Sets `value` and returns nothing, or returns what was expected.
template <class T>
std::string set_in_range(const std::string& text, Range range, T& value) {
    constexpr bool whole = std::is_integral_v<T>;
    double number = 0;
    const bool is_number = whole ? parse_integer(text, number) : parse_number(text, number);
    if (!is_number || number < range.min || number > range.max) {
        return fmt::format("a {} from {} to {}", whole ? "whole number" : "number", range.min,
                           range.max);
    }
    value = static_cast<T>(number);
    return {};
}

template <class T>
ArgParser::Setter in_range(T& value, Range range) {
    return [&value, range](const std::string& text) { return set_in_range(text, range, value); };
}

// `value` is a number or holds one.
template <class T>
ArgParser::Setter in_range_or_none(T& value, Range range, T if_none) {
    return [&value, range, if_none](const std::string& text) -> std::string {
        value = if_none;
        if (text == "None") return {};
        std::conditional_t<std::is_integral_v<T>, int, float> number = 0;
        const std::string wanted = set_in_range(text, range, number);
        if (wanted.empty()) value = number;
        return wanted.empty() ? wanted : wanted + ", or None";
    };
}

// `value` is a bool or holds one.
template <class T>
ArgParser::Setter true_or_false(T& value) {
    return [&value](const std::string& text) -> std::string {
        const bool yes = text == "True" || text == "true";
        const bool no = text == "False" || text == "false";
        value = yes;
        return yes || no ? "" : "True or False";
    };
}

// "-t,--threads" -> "--threads"
std::string long_name(const std::string& names) {
    const std::string name = names.substr(std::min(names.find("--"), names.size()));
    return name.empty() ? names : name.substr(0, name.find(','));
}

}  // namespace

bool parse_number(const std::string& text, double& value) {
    // strtod alone would take blanks in front, "inf", "nan" and hexadecimal digits.
    if (text.empty() || text.find_first_not_of("+-.0123456789eE") != std::string::npos) {
        return false;
    }
    char* end = nullptr;
    value = std::strtod(text.c_str(), &end);
    return *end == '\0' && std::isfinite(value);
}

std::vector<std::string> split(const std::string& list, char separator) {
    std::vector<std::string> parts;
    for (size_t at = 0; at <= list.size();) {
        const size_t end = std::min(list.find(separator, at), list.size());
        parts.push_back(list.substr(at, end - at));
        at = end + 1;
    }
    return parts;
}

ArgParser::ArgParser(const std::string& program, const std::string& summary)
    : app_(summary, program) {
    app_.set_help_flag();  // it joins in parse(), so that it stands at the end of the help
    app_.allow_windows_style_options(false);
    app_.get_formatter()->column_width(40);
    app_.get_formatter()->label("Positionals", "Arguments");
}

void ArgParser::version(const std::string& text) {
    app_.set_version_flag("--version", text, "show the versions of the program and of its parts")
        ->group(group_);
}

void ArgParser::flag(const std::string& names, bool& value, const std::string& help) {
    app_.add_flag(names, value, help)->group(group_);
}

void ArgParser::checked(const std::string& names, const std::string& type, Setter set,
                        const std::string& help) {
    auto take = [name = long_name(names), set = std::move(set)](const std::string& value) {
        const std::string wanted = set(value);
        if (wanted.empty()) return;
        throw CLI::ValidationError(name, fmt::format("'{}' is not {}", printable(value), wanted));
    };
    app_.add_option_function<std::string>(names, take, help)->group(group_)->option_text(type);
}

void ArgParser::text(const std::string& names, std::string& value, const std::string& help) {
    auto set = [&value](const std::string& text) -> std::string {
        value = text;
        return {};
    };
    checked(names, "TEXT", set, help);
}

void ArgParser::name(const std::string& names, const std::string& type, std::string& value,
                     const std::string& help) {
    auto set = [&value](const std::string& text) -> std::string {
        value = text;
        return trim(text).empty() ? "a name" : "";
    };
    checked(names, type, set, help);
}

void ArgParser::integer(const std::string& names, int& value, Range range,
                        const std::string& help) {
    checked(names, "N", in_range(value, range), help);
}

void ArgParser::integer(const std::string& names, unsigned& value, Range range,
                        const std::string& help) {
    checked(names, "N", in_range(value, range), help);
}

void ArgParser::number(const std::string& names, double& value, Range range,
                       const std::string& help) {
    checked(names, "X", in_range(value, range), help);
}

void ArgParser::number(const std::string& names, float& value, Range range,
                       const std::string& help) {
    checked(names, "X", in_range(value, range), help);
}

void ArgParser::number(const std::string& names, float& value, NumberOrNone allowed,
                       const std::string& help) {
    checked(names, "X", in_range_or_none(value, allowed.range, allowed.if_none), help);
}

void ArgParser::integer(const std::string& names, int& value, NumberOrNone allowed,
                        const std::string& help) {
    const int if_none = static_cast<int>(allowed.if_none);
    checked(names, "N", in_range_or_none(value, allowed.range, if_none), help);
}

void ArgParser::number(const std::string& names, std::optional<float>& value, Range range,
                       const std::string& help) {
    checked(names, "X", in_range_or_none(value, range, std::optional<float>()), help);
}

void ArgParser::boolean(const std::string& names, bool& value, const std::string& help) {
    checked(names, "True|False", true_or_false(value), help);
}

void ArgParser::boolean(const std::string& names, std::optional<bool>& value,
                        const std::string& help) {
    checked(names, "True|False", true_or_false(value), help);
}

void ArgParser::argument(const std::string& name, std::string& value, const std::string& help) {
    app_.add_option(name, value, help)->option_text(" ")->required();
}

void ArgParser::files(const std::string& name, std::vector<std::string>& values,
                      const std::string& help) {
    app_.add_option(name, values, help)->option_text("...");
    files_ = &values;
}

Error ArgParser::fault(const std::string& what) const {
    return {Code::invalid_argument, fmt::format("{}; see '{} --help'", what, app_.get_name())};
}

const CLI::Option* ArgParser::find(const std::string& name) const {
    return name.size() > 1 && name[0] == '-' ? app_.get_option_no_throw(name) : nullptr;
}

std::string ArgParser::dashed(const std::string& arg) const {
    if (arg.compare(0, 2, "--") != 0) return arg;
    const size_t n_name = std::min(arg.find('='), arg.size());
    std::string name = arg.substr(0, n_name);
    std::replace(name.begin(), name.end(), '_', '-');
    return find(name) ? name + arg.substr(n_name) : arg;
}

Expected<std::vector<std::string>> ArgParser::normalize(
    const std::vector<std::string>& args) const {
    std::vector<std::string> out;
    for (size_t i = 0; i < args.size(); i++) {
        out.push_back(dashed(args[i]));
        const CLI::Option* option = find(out.back());
        if (!option) continue;
        const std::string next = i + 1 < args.size() ? args[i + 1] : "";
        if (option->get_expected_min() == 0) {
            if (next != "True" && next != "False") continue;
            out.back() += next == "True" ? "=true" : "=false";
        } else {
            const bool missing = i + 1 == args.size() || find(dashed(next));
            if (missing) return fault(out.back() + ": a value is missing");
            out.push_back(next);
        }
        i++;
    }
    return out;
}

// CLI11's text with one empty line between groups instead of two.
std::string ArgParser::help() const {
    std::string text = app_.help();
    for (size_t at; (at = text.find("\n\n\n")) != std::string::npos;) text.erase(at, 1);
    return text;
}

Expected<std::string> ArgParser::run_cli11(std::vector<std::string> args) {
    std::reverse(args.begin(), args.end());  // as CLI11 wants them
    try {
        app_.parse(std::move(args));
    } catch (const CLI::CallForHelp&) {
        return help();
    } catch (const CLI::CallForVersion& version) {
        return version.what() + std::string("\n");
    } catch (const CLI::ExtrasError&) {
        const auto extras = app_.remaining();
        const std::string extra = extras[extras[0] == "--" && extras.size() > 1];
        const bool option = extra.size() > 1 && extra[0] == '-';
        return fault(fmt::format("{} '{}'", option ? "unknown option" : "unexpected argument",
                                 printable(extra)));
    } catch (const CLI::ArgumentMismatch& e) {  // "--model: At Most 1 required but received 2"
        const std::string what = e.what();
        return fault(what.substr(0, what.find(':')) + ": one value is needed, and only one");
    } catch (const std::exception& e) {
        return fault(e.what());
    }
    return std::string();
}

Expected<std::string> ArgParser::parse(std::vector<std::string> args) {
    app_.set_help_flag("-h,--help", "show this text")->group(group_);
    const auto mark = std::find(args.begin(), args.end(), "--");
    const std::vector<std::string> options(args.begin(), mark);
    TRY_SET(auto normal, normalize(options));
    if (!files_) normal.insert(normal.end(), mark, args.end());
    TRY_SET(std::string show, run_cli11(std::move(normal)));
    // Straight to the files: CLI11 would take "[a]" apart.
    if (files_ && mark != args.end()) files_->insert(files_->end(), mark + 1, args.end());
    return show;
}

}  // namespace transcribe::cli
