#include "cli/args.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/args_groups.h"
#include "cli/version.h"
#include "hub/manifest.h"

namespace transcribe::cli {

namespace {

constexpr Range thread_range{1, 1024};

std::string set_precision(const std::string& name, Precision& precision) {
    auto known = precision_named(name);
    if (!known) return "auto, f32, bf16 or int8";
    precision = *known;
    return "";
}

void add_model(ArgParser& parser, std::string& model, OpenOptions& open, SessionOptions& session) {
    model = default_model;
    parser.group("Model and machine");
    parser.name("-m,--model", "MODEL", model,
                "a GGUF file or whisper.cpp's .bin, or a name that\n"
                "'transcribe models' lists; fetched when it is not there\n"
                "yet (default: " +
                    model + ")");
    parser.name("--device", "NAME", open.device,
                "where to compute: auto, cpu, or a name that\n'transcribe devices' lists");
    parser.integer("-t,--threads", session.n_threads, thread_range,
                   "threads to compute with (default: all processors)");
    parser.checked(
        "--precision", "NAME",
        [&open](const std::string& name) { return set_precision(name, open.precision); },
        "what is multiplied: f32, bf16, int8, or auto, which takes\n"
        "the fastest that costs no accuracy (default: auto)");
    parser.integer("--batch-size", session.batch_size, Range{1, 64},
                   "windows decoded at once; with more than one, recordings\n"
                   "are cut in pauses, up to 30 s apart (default: 4 if a\n"
                   "recording is longer than a minute, else 1)");
    parser.integer("--context", session.n_ctx, Range{64, 1 << 20},
                   "tokens of sound and text that a language model may hold\n"
                   "for each recording (default: what it was made for)");
}

constexpr const char* help_footer = R"(Commands ('transcribe COMMAND --help' tells more):
  models     list the models that have a name
  pull       fetch one of them
  convert    make a GGUF file of a checkpoint
  quantize   make a model file smaller
  inspect    say what is in a model file
  ask        a question to the language model of Canary-Qwen
  vad        print where somebody speaks
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

void add_inputs(ArgParser& parser, TranscribeArgs& args) {
    parser.files("AUDIO", args.files,
                 "files to transcribe, or folders: their audio and video\n"
                 "files, also of subfolders; '-' is standard input");
    parser.group("Input");
    parser.name("--files-from", "LIST", args.files_from,
                "a file that names more AUDIO, one a line or with a zero\n"
                "byte after each; '-' is standard input");
}

Status check_inputs(const ArgParser& parser, const TranscribeArgs& args) {
    if (args.files.empty() && args.files_from.empty() && !args.stream.live) {
        return parser.fault("no audio file is given");
    }
    const auto n_stdin = std::count(args.files.begin(), args.files.end(), "-");
    if (n_stdin + (args.files_from == "-") > 1) {
        return parser.fault("standard input ('-') can be read only once");
    }
    return {};
}

}  // namespace

Expected<TranscribeArgs> parse_transcribe(const std::vector<std::string>& words) {
    TranscribeArgs args;
    Switches on;
    ArgParser parser("transcribe", "Speech to text: transcribes audio and video files.");
    add_inputs(parser, args);
    add_stream(parser, args.stream, on);
    add_speech(parser, args, on);
    add_output(parser, args, on);
    add_model(parser, args.model, args.open, args.session);
    add_decoding(parser, args.options, on);
    add_words(parser, args.options, on);
    parser.group("Help");
    parser.version(version_text());
    parser.examples(help_footer);
    TRY_SET(args.show, parser.parse(words));
    if (!args.show.empty()) return args;

    settle_stream(args.stream, on);
    TRY(check_inputs(parser, args));
    TRY(check_stream(parser, args, on));
    TRY(check_speech(parser, args, on));
    TRY(check_output(parser, args, on));
    TRY(check_decoding(parser, args.options, on));
    if (on.translate) args.options.task = Task::translate;
    if (on.without_timestamps) args.options.timestamps = false;
    if (on.vad) args.options.vad = args.voice.options;
    settle_output(args, on);
    settle_words(args, on);
    return args;
}

Expected<AskArgs> parse_ask(const std::vector<std::string>& words) {
    AskArgs args;
    ArgParser parser(
        "transcribe ask",
        "What the language model of a speech model says to a text, such as a question\n"
        "about a transcript. For models that have one (Canary-Qwen).");
    parser.argument("QUESTION", args.question, "what to ask");
    parser.name("--about", "FILE", args.about,
                "a text that follows the question; '-' is standard input");
    add_model(parser, args.model, args.open, args.session);
    parser.group("Answer");
    parser.integer("--max-tokens", args.options.max_tokens, Range{1, 1 << 20},
                   "of the answer (default: 1024)");
    parser.flag("-q,--quiet", args.quiet, "nothing but the answer, warnings and errors");
    TRY_SET(args.show, parser.parse(words));
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
    parser.flag("--stream", args.stream,
                "as if the recording were being spoken: delay from a word\n"
                "to its text, and how much of the text is that of one go");
    parser.flag("--json", args.json, "print JSON");
    TRY_SET(args.show, parser.parse(words));
    return args;
}

}  // namespace transcribe::cli
