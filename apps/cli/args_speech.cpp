// Options about what is said: language, task, what the text may be expected to hold, and which part
// of a recording counts.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "cli/args_groups.h"

namespace transcribe::cli {

namespace {

constexpr Range second_range{0, 1e6};  // 11 days

std::string set_task(const std::string& name, Task& task) {
    if (name != "transcribe" && name != "translate") return "transcribe or translate";
    task = name == "translate" ? Task::translate : Task::transcribe;
    return {};
}

// "0,5,10,20" -> 0 to 5 s and 10 to 20 s; a last start without an end goes on to the end. "0",
// which is all, gives none.
std::string set_clips(const std::string& list, std::vector<TimeSpan>& clips) {
    const std::string wanted =
        "a list of seconds that grow, by comma: start,end,start,end,... (the last end may be left "
        "out)";
    std::vector<i64> times_ms;
    for (const std::string& part : split(list, ',')) {
        double seconds = 0;
        if (!parse_number(part, seconds) || seconds < 0 || seconds > second_range.max) {
            return wanted;
        }
        times_ms.push_back(std::llround(seconds * 1000));
        const size_t n = times_ms.size();
        // An end lies after its start; the next start may be the same.
        if (n > 1 && times_ms[n - 1] < times_ms[n - 2] + i64(n % 2 == 0)) return wanted;
    }
    if (times_ms.size() % 2 == 1) times_ms.push_back(std::numeric_limits<i64>::max());
    clips.clear();
    const bool all = times_ms.size() == 2 && times_ms[0] == 0 && list.find(',') == list.npos;
    for (size_t i = 0; i < times_ms.size() && !all; i += 2) {
        clips.push_back({times_ms[i], times_ms[i + 1]});
    }
    return {};
}

void add_expected_text(ArgParser& parser, Options& options) {
    parser.text("--initial-prompt", options.initial_prompt,
                "text that comes before: names and words to expect,\nand the style to write in");
    parser.boolean("--carry-initial-prompt", options.carry_initial_prompt,
                   "the initial prompt comes before every window, not only\n"
                   "the first (default: False)");
    parser.text("--hotwords", options.hotwords, "names and words to expect, before every window");
    parser.text("--prefix", options.prefix, "how the text of the first window begins");
}

}  // namespace

void add_language(ArgParser& parser, std::string& language) {
    parser.name("-l,--language", "LANG", language,
                "language spoken, as a code or an English name\n(default: auto, it is detected)");
}

void add_speech(ArgParser& parser, TranscribeArgs& args, Switches& on) {
    parser.group("Speech");
    add_language(parser, args.options.language);
    parser.flag("--detect-language-per-window", args.options.detect_language_per_window,
                "for recordings that change language");
    parser.checked(
        "--task", "TASK",
        [&args](const std::string& name) { return set_task(name, args.options.task); },
        "transcribe (default), or translate into English");
    parser.flag("--translate", on.translate, "the same as --task translate");
    add_expected_text(parser, args.options);
    parser.number("--offset", args.clip.offset_s, second_range,
                  "begin this many seconds into each recording; times\nstill count from its start");
    parser.number("--duration", args.clip.duration_s, {0.001, second_range.max},
                  "read at most this many seconds of each recording");
    parser.checked(
        "--clip-timestamps", "LIST",
        [&args](const std::string& list) { return set_clips(list, args.options.clips); },
        "parts of each recording to transcribe, in seconds:\n"
        "start,end,start,end,... (default: 0, all of it)");
    parser.group("Voice detection");
    parser.flag("--vad", on.vad,
                "voice detection: only what is speech is decoded, and\n"
                "long pauses are left out");
    add_voice(parser, args.voice);
}

Status check_speech(const ArgParser& parser, const TranscribeArgs& args, const Switches& on) {
    const Options& options = args.options;
    const bool cut = args.clip.offset_s > 0 || args.clip.duration_s > 0;
    if (cut && !options.clips.empty()) {
        return parser.fault("--clip-timestamps excludes --offset and --duration");
    }
    const bool known = !options.language.empty() && options.language != "auto";
    if (options.detect_language_per_window && known) {
        return parser.fault(
            fmt::format("--detect-language-per-window excludes --language {}", options.language));
    }
    const VoiceChoice& voice = args.voice;
    if (!on.vad && (voice.options != VadOptions() || voice.model != default_vad_model)) {
        return parser.fault("the options --vad-... need --vad");
    }
    if (options.carry_initial_prompt && options.initial_prompt.empty()) {
        return parser.fault("--carry-initial-prompt needs --initial-prompt");
    }
    return {};
}

}  // namespace transcribe::cli
