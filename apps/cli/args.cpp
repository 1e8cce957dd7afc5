#include "cli/args.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "cli/arg_parser.h"
#include "cli/version.h"
#include "hub/manifest.h"

namespace transcribe::cli {

namespace {

constexpr float no_limit = std::numeric_limits<float>::max();
constexpr Range thread_range{1, 1024};
constexpr Range second_range{0, 1e6};  // 11 days

void add_model(ArgParser& parser, std::string& model, OpenOptions& open, SessionOptions& session) {
    model = default_model;
    parser.group("Model and machine");
    parser.name("-m,--model", "MODEL", model,
                "a GGUF file, or a name that 'transcribe models' lists;\n"
                "fetched when it is not there yet (default: " +
                    model + ")");
    parser.name("--device", "NAME", open.device,
                "where to compute: auto, cpu, or a name that\n'transcribe devices' lists");
    parser.integer("-t,--threads", session.n_threads, thread_range,
                   "threads to compute with (default: all processors)");
}

void add_language(ArgParser& parser, std::string& language) {
    parser.name("-l,--language", "LANG", language,
                "language spoken, as a code or an English name\n(default: auto, it is detected)");
}

std::string format_names() {
    std::string names;
    for (const Writer& writer : writers()) names += fmt::format("{}, ", writer.name);
    return names + "all";
}

// "srt,json" -> writers, each once; what was expected where one is unknown.
std::string set_formats(const std::string& list, std::vector<const Writer*>& formats) {
    for (size_t at = 0; at <= list.size();) {
        const size_t end = std::min(list.find(',', at), list.size());
        const std::string name = list.substr(at, end - at);
        const Writer* writer = find_writer(name);
        if (!writer && name != "all") return "a list of these: " + format_names();
        for (const Writer& known : writers()) {
            if (writer && writer != &known) continue;
            const bool is_new = std::find(formats.begin(), formats.end(), &known) == formats.end();
            if (is_new) formats.push_back(&known);
        }
        at = end + 1;
    }
    return {};
}

std::string set_task(const std::string& name, Task& task) {
    if (name != "transcribe" && name != "translate") return "transcribe or translate";
    task = name == "translate" ? Task::translate : Task::transcribe;
    return {};
}

std::string set_type(const std::string& name, std::optional<Dtype>& type) {
    constexpr std::string_view allowed[] = {"f32", "f16", "bf16", "q8_0"};
    if (std::find(std::begin(allowed), std::end(allowed), name) == std::end(allowed)) {
        return "f32, f16, bf16 or q8_0";
    }
    type = dtype_named(name);
    return {};
}

struct Switches {  // flags that become something else
    bool translate = false, without_timestamps = false, no_times = false;
    bool progress = false, no_progress = false;
};

void add_speech(ArgParser& parser, TranscribeArgs& args, Switches& on) {
    parser.group("Speech");
    add_language(parser, args.options.language);
    parser.checked(
        "--task", "TASK",
        [&args](const std::string& name) { return set_task(name, args.options.task); },
        "transcribe (default), or translate into English");
    parser.flag("--translate", on.translate, "the same as --task translate");
    parser.text("--initial-prompt", args.options.initial_prompt,
                "text that comes before: names and words to expect,\nand the style to write in");
    parser.number("--offset", args.clip.offset_s, second_range,
                  "begin this many seconds into each recording; times\nstill count from its start");
    parser.number("--duration", args.clip.duration_s, {0.001, second_range.max},
                  "read at most this many seconds of each recording");
}

void add_output(ArgParser& parser, TranscribeArgs& args, Switches& on) {
    parser.group("Output");
    parser.name("-o,--output-dir", "DIR", args.output_dir,
                "write DIR/NAME.FORMAT for each AUDIO, NAME being its\n"
                "name without the suffix; the folder is made");
    parser.checked(
        "-f,--output-format", "FORMAT",
        [&args](const std::string& list) { return set_formats(list, args.formats); },
        "one or more, by comma: txt, srt, vtt, tsv, json,\n"
        "jsonl, csv, lrc, all (default with -o: all; without:\n"
        "lines with times as they are decoded)");
    parser.flag("--no-timestamps", on.no_times, "lines without times in front");
    parser.flag("-q,--quiet", args.quiet, "nothing but results, warnings and errors");
    parser.flag("-v,--verbose", args.verbose, "also language, device and timings");
    parser.flag("--progress", on.progress, "show progress even where there is no terminal");
    parser.flag("--no-progress", on.no_progress, "show no progress");
}

void add_decoding(ArgParser& parser, Options& options, Switches& on) {
    parser.group("Decoding");
    parser.boolean("--condition-on-previous-text", options.condition_on_previous_text,
                   "each window sees the text before it (default: True)");
    parser.flag("--without-timestamps", on.without_timestamps,
                "decode without time tokens: one segment a window");
    parser.number("--temperature", options.temperature, Range{0, 2},
                  "of the first try; 0 (default) takes the likeliest token");
    parser.number("--temperature-increment-on-fallback", options.temperature_increment,
                  ArgParser::NumberOrNone{{0, 2}, 0},
                  "added for each further try after a bad one;\n0 or None: one try (default: 0.2)");
    parser.number("--compression-ratio-threshold", options.compression_ratio_threshold,
                  ArgParser::NumberOrNone{{0, 100}, no_limit},
                  "a try whose text repeats itself more than this is\nbad (default: 2.4)");
    parser.number("--logprob-threshold", options.logprob_threshold,
                  ArgParser::NumberOrNone{{-100, 0}, -no_limit},
                  "a try whose mean log probability is lower is bad\n(default: -1)");
    parser.number("--no-speech-threshold", options.no_speech_threshold,
                  ArgParser::NumberOrNone{{0, 1}, no_limit},
                  "a window that is silence with a higher probability,\n"
                  "and bad, gives no text (default: 0.6)");
    parser.integer("--seed", options.seed, Range{0, 4294967295.0},
                   "of the random numbers of tries above temperature 0\n(default: 0)");
}

constexpr const char* help_footer = R"(Commands ('transcribe COMMAND --help' tells more):
  models     list the models that have a name
  pull       fetch one of them
  convert    make a GGUF file of a checkpoint
  inspect    say what is in a GGUF file
  bench      measure speed and memory
  devices    list what can compute

Examples:
  transcribe talk.mp3                        lines with times, as they are decoded
  transcribe -o out -f srt,json *.mp4        out/NAME.srt and out/NAME.json
  transcribe -m tiny.en -f txt - < talk.wav  text of standard input
  transcribe -l de --translate rede.ogg      German speech, English text

AUDIO is any file that FFmpeg decodes, or '-' for standard input; names that begin with a
dash go after '--'. Options may be written with '_' for '-'.

Exit: 0 all done, 1 some failed, 2 usage, 3 model, 4 audio, 5 computing or memory,
130 interrupted (what was decoded is written).)";

Status check(const TranscribeArgs& args, const Switches& on) {
    auto fault = [](const char* what) -> Error {
        return {Code::invalid_argument, fmt::format("{}; see 'transcribe --help'", what)};
    };
    if (on.progress && on.no_progress) {
        return fault("--progress and --no-progress exclude each other");
    }
    if (std::count(args.files.begin(), args.files.end(), "-") > 1) {
        return fault("standard input ('-') can be read only once");
    }
    if (!args.output_dir.empty()) return {};
    if (args.formats.size() > 1) return fault("several formats need a folder: -o DIR");
    const bool joins = args.formats.empty() || args.formats[0]->streams;
    if (args.files.size() > 1 && !joins) {
        return fault("several files in one output of this format cannot be read: use -o DIR");
    }
    return {};
}

}  // namespace

Expected<TranscribeArgs> parse_transcribe(const std::vector<std::string>& words) {
    TranscribeArgs args;
    Switches on;
    ArgParser parser("transcribe", "Speech to text: transcribes audio and video files.");
    parser.files("AUDIO", args.files, "files to transcribe; '-' is standard input");
    add_speech(parser, args, on);
    add_output(parser, args, on);
    add_model(parser, args.model, args.open, args.session);
    parser.integer("--batch-size", args.session.batch_size, Range{1, 64},
                   "windows decoded at once (default: 1)");
    add_decoding(parser, args.options, on);
    parser.group("Help");
    parser.version(version_text());
    parser.examples(help_footer);
    TRY_SET(args.show, parser.parse(words));
    if (!args.show.empty()) return args;

    TRY(check(args, on));
    if (on.translate) args.options.task = Task::translate;
    if (on.without_timestamps) args.options.timestamps = false;
    args.show_times = !on.no_times && args.options.timestamps;
    if (on.progress) args.progress = ShowProgress::always;
    if (on.no_progress) args.progress = ShowProgress::never;
    if (!args.output_dir.empty() && args.formats.empty()) set_formats("all", args.formats);
    return args;
}

Expected<BenchArgs> parse_bench(const std::vector<std::string>& words) {
    BenchArgs args;
    ArgParser parser("transcribe bench",
                     "Measures each stage on one recording: a run to warm up, then the median of\n"
                     "some more. Prints times, real-time factor and peak memory.");
    parser.argument("AUDIO", args.file, "the recording; a few minutes of speech measure best");
    add_model(parser, args.model, args.open, args.session);
    parser.group("Measurement");
    add_language(parser, args.language);
    parser.integer("--runs", args.n_runs, Range{1, 1000}, "runs that count (default: 3)");
    parser.flag("--json", args.json, "print JSON");
    TRY_SET(args.show, parser.parse(words));
    return args;
}

Expected<ConvertArgs> parse_convert(const std::vector<std::string>& words) {
    ConvertArgs args;
    ArgParser parser(
        "transcribe convert",
        "Makes a GGUF file of a checkpoint: a folder with safetensors as Hugging Face\n"
        "has them, or one in CTranslate2 format.");
    parser.argument("SOURCE", args.source, "the folder of the checkpoint");
    parser.argument("OUT", args.out, "the GGUF file to write");
    parser.checked(
        "--type", "TYPE", [&args](const std::string& name) { return set_type(name, args.type); },
        "how matrices are stored: f32, f16, bf16 or q8_0\n(default: as in the checkpoint)");
    parser.flag("-q,--quiet", args.quiet, "show no progress");
    TRY_SET(args.show, parser.parse(words));
    return args;
}

Expected<NameArgs> parse_inspect(const std::vector<std::string>& words) {
    NameArgs args;
    ArgParser parser("transcribe inspect", "Prints what the header of a GGUF file says.");
    parser.argument("MODEL", args.name, "a GGUF file, or the name of a model in the cache");
    TRY_SET(args.show, parser.parse(words));
    return args;
}

Expected<NameArgs> parse_pull(const std::vector<std::string>& words) {
    NameArgs args;
    ArgParser parser("transcribe pull",
                     "Fetches a model by name, once, and prints where its file is.");
    parser.argument("NAME", args.name, "a name that 'transcribe models' lists");
    parser.flag("-q,--quiet", args.quiet, "show no progress");
    TRY_SET(args.show, parser.parse(words));
    return args;
}

Expected<std::string> parse_nothing(const std::string& command, const std::string& summary,
                                    const std::vector<std::string>& words) {
    ArgParser parser("transcribe " + command, summary);
    return parser.parse(words);
}

}  // namespace transcribe::cli
