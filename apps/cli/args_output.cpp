// Options about what is written, where, and what is shown meanwhile.
#include <fmt/format.h>

#include <algorithm>

#include "cli/args_groups.h"

namespace transcribe::cli {

namespace {

std::string format_names() {
    std::string names;
    for (const Writer& writer : writers()) names += fmt::format("{}, ", writer.name);
    return names + "all";
}

// "srt,json" -> writers, each once; what was expected where one is unknown.
std::string set_formats(const std::string& list, std::vector<const Writer*>& formats) {
    for (const std::string& name : split(list, ',')) {
        const Writer* writer = find_writer(name);
        if (!writer && name != "all") return "a list of these: " + format_names();
        for (const Writer& known : writers()) {
            if (writer && writer != &known) continue;
            const bool is_new = std::find(formats.begin(), formats.end(), &known) == formats.end();
            if (is_new) formats.push_back(&known);
        }
    }
    return {};
}

void add_layout(ArgParser& parser, Layout& layout) {
    parser.group("Subtitles (srt and vtt)");
    parser.integer("--max-line-width", layout.max_line_width, ArgParser::NumberOrNone{{1, 1000}, 0},
                   "characters of a line (default: None, no limit)");
    parser.integer("--max-line-count", layout.max_line_count, ArgParser::NumberOrNone{{1, 1000}, 0},
                   "lines of a subtitle, with --max-line-width\n(default: None, no limit)");
    parser.integer("--max-words-per-line", layout.max_words_per_line,
                   ArgParser::NumberOrNone{{1, 1000}, 0},
                   "words of a subtitle, without --max-line-width\n(default: None, no limit)");
    parser.flag("--highlight-words", layout.highlight_words, "underline each word as it is said");
}

// Options of subtitles that do nothing beside the others, in sentences.
std::vector<std::string> useless(const TranscribeArgs& args) {
    const Layout& layout = args.layout;
    if (!layout.asked()) return {};
    if (!writes_subtitles(args.formats)) {
        return {"the options of subtitles have no effect without -f srt or vtt"};
    }
    std::vector<std::string> warnings;
    if (layout.max_line_count > 0 && layout.max_line_width == 0) {
        warnings.push_back("--max-line-count has no effect without --max-line-width");
    }
    if (layout.max_words_per_line > 0 && layout.max_line_width > 0) {
        warnings.push_back("--max-words-per-line has no effect with --max-line-width");
    }
    return warnings;
}

}  // namespace

bool writes_subtitles(const std::vector<const Writer*>& formats) {
    return std::any_of(formats.begin(), formats.end(), [](const Writer* writer) {
        const std::string_view name = writer->name;
        return name == "srt" || name == "vtt";
    });
}

void add_output(ArgParser& parser, TranscribeArgs& args, Switches& on) {
    parser.group("Output");
    parser.name("-o,--output-dir", "DIR", args.output_dir,
                "write DIR/NAME.FORMAT for each AUDIO, NAME being its\n"
                "name without the suffix; below DIR the subfolders of a\n"
                "folder are kept; folders are made");
    parser.checked(
        "-f,--output-format", "FORMAT",
        [&args](const std::string& list) { return set_formats(list, args.formats); },
        "one or more, by comma: txt, srt, vtt, tsv, json,\n"
        "jsonl, csv, lrc, all (default with -o: all; without:\n"
        "lines with times as they are decoded)");
    parser.flag("--skip-existing", args.skip_existing,
                "leave out what has all its files already, to go on with\na run that broke off");
    parser.flag("--no-timestamps", on.no_times, "lines without times in front");
    parser.flag("-q,--quiet", args.quiet, "nothing but results, warnings and errors");
    parser.flag("-v,--verbose", args.verbose, "also language, device and timings");
    parser.flag("--progress", on.progress, "show progress even where there is no terminal");
    parser.flag("--no-progress", on.no_progress, "show no progress");
    add_layout(parser, args.layout);
}

Status check_output(const ArgParser& parser, const TranscribeArgs& args, const Switches& on) {
    if (on.progress && on.no_progress) {
        return parser.fault("--progress and --no-progress exclude each other");
    }
    if (args.layout.highlight_words && !on.word_timestamps.value_or(true)) {
        return parser.fault("--highlight-words needs --word-timestamps True");
    }
    if (!args.output_dir.empty()) return {};
    if (args.formats.size() > 1) return parser.fault("several formats need a folder: -o DIR");
    if (args.skip_existing) return parser.fault("--skip-existing needs a folder: -o DIR");
    return {};
}

void settle_output(TranscribeArgs& args, const Switches& on) {
    args.show_times = !on.no_times && args.options.timestamps;
    if (on.progress) args.progress = ShowProgress::always;
    if (on.no_progress) args.progress = ShowProgress::never;
    if (!args.output_dir.empty() && args.formats.empty()) set_formats("all", args.formats);
    args.warnings = useless(args);
}

}  // namespace transcribe::cli
