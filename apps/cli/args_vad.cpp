// Options of voice detection, and the command line of `transcribe vad`.
#include <fmt/format.h>

#include "cli/args_groups.h"

namespace transcribe::cli {

namespace {

constexpr Range ms_range{0, 3600000};

std::string set_format(const std::string& name, const RegionWriter*& format) {
    std::string names;
    for (const RegionWriter& writer : region_writers()) {
        if (name == writer.name) return format = &writer, std::string();
        names += fmt::format("{}{}", names.empty() ? "" : ", ", writer.name);
    }
    return "one of these: " + names;
}

}  // namespace

void add_voice(ArgParser& parser, VoiceChoice& voice) {
    VadOptions& options = voice.options;
    parser.name("--vad-model", "MODEL", voice.model,
                "the voice detector: a GGUF file, or a name that\n'transcribe models' lists "
                "(default: " +
                    voice.model + ")");
    parser.number("--vad-threshold", options.threshold, Range{0, 1},
                  "speech begins where it is this likely (default: 0.5)");
    parser.integer("--vad-min-speech-duration-ms", options.min_speech_ms, ms_range,
                   "shorter sounds are no speech (default: 250)");
    parser.integer("--vad-min-silence-duration-ms", options.min_silence_ms, ms_range,
                   "shorter pauses end no region (default: 200)");
    parser.integer("--vad-speech-pad-ms", options.speech_pad_ms, ms_range,
                   "added at both ends of a region (default: 30)");
    parser.number("--vad-max-speech-duration-s", options.max_speech_s, Range{0, 1e6},
                  "longer regions are cut, in a pause where there is one\n(default: 0, no limit)");
}

Expected<VadArgs> parse_vad(const std::vector<std::string>& words) {
    VadArgs args;
    args.format = &region_writers()[0];
    ArgParser parser(
        "transcribe vad",
        "Voice detection alone: prints where somebody speaks, and recognizes nothing.");
    parser.files("AUDIO", args.files, "files to hear; '-' is standard input");
    parser.group("Output");
    parser.checked(
        "-f,--format", "FORMAT",
        [&args](const std::string& name) { return set_format(name, args.format); },
        "lines (default), tsv (milliseconds), or json: one\nobject a line for each AUDIO");
    parser.flag("-q,--quiet", args.quiet, "nothing but results, warnings and errors");
    parser.group("Speech");
    add_voice(parser, args.voice);
    parser.group("Help");
    TRY_SET(args.show, parser.parse(words));
    if (args.show.empty() && args.files.empty()) return parser.fault("no audio file is given");
    return args;
}

}  // namespace transcribe::cli
