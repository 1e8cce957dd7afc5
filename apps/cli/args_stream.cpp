// Options about sound that is transcribed as it comes.
#include <fmt/format.h>

#include <utility>

#include "cli/args_groups.h"

namespace transcribe::cli {

void add_stream(ArgParser& parser, StreamArgs& stream, Switches& on) {
    parser.group("Sound as it comes");
    parser.flag("--live", stream.live, "listen to the microphone, until Ctrl-C");
    parser.name("--live-device", "NAME", stream.device,
                "another one than the default: a name of the system, or\n"
                "KIND:NAME with a kind of FFmpeg (alsa:hw:1)");
    parser.flag("--stream", stream.on,
                "read AUDIO as it comes, such as '-' from a pipe, and\n"
                "print what is certain at once; it never changes after");
    auto set_format = [&on](const std::string& name) -> std::string {
        on.raw_format = true;
        on.raw.is_float = name == "f32le";
        return name == "s16le" || name == "f32le" ? "" : "s16le or f32le";
    };
    parser.checked(
        "--raw-format", "FORMAT", set_format,
        "AUDIO of --stream is samples of one channel, without a\nheader: s16le or f32le");
    auto set_rate = [&on](const std::string& text) -> std::string {
        double rate_hz = 0;
        on.raw_rate = true;
        const bool ok = parse_number(text, rate_hz) && rate_hz >= 1000 && rate_hz <= 768000;
        on.raw.rate_hz = static_cast<int>(rate_hz);
        return ok && on.raw.rate_hz == rate_hz ? "" : "a whole number from 1000 to 768000";
    };
    parser.checked("--raw-rate", "N", set_rate, "samples a second of it (default: 16000)");
}

void settle_stream(StreamArgs& stream, const Switches& on) {
    stream.live = stream.live || !stream.device.empty();
    if (on.raw_format) stream.raw = on.raw;
}

Status check_stream(const ArgParser& parser, const TranscribeArgs& args, const Switches& on) {
    const StreamArgs& stream = args.stream;
    const bool named = !args.files.empty() || !args.files_from.empty();
    if (stream.live && (stream.on || named)) {
        return parser.fault("--live excludes --stream, --files-from and AUDIO");
    }
    if (on.raw_rate && !on.raw_format) return parser.fault("--raw-rate needs --raw-format");
    if (stream.raw && !stream.on) return parser.fault("--raw-format needs --stream");
    if (!stream.on && !stream.live) return {};
    if (stream.on && (args.files.size() != 1 || !args.files_from.empty())) {
        return parser.fault("--stream reads one AUDIO");
    }
    const std::pair<const char*, bool> excluded[] = {
        {"--offset", args.clip.offset_s > 0},
        {"--duration", args.clip.duration_s > 0},
        {"--clip-timestamps", !args.options.clips.empty()},
        {"--prefix", !args.options.prefix.empty()},
        {"--skip-existing", args.skip_existing}};
    for (const auto& [name, given] : excluded) {
        if (given) return parser.fault(fmt::format("--live and --stream exclude {}", name));
    }
    return {};
}

}  // namespace transcribe::cli
