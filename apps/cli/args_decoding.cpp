// Options about how text is searched for, with the names and limits of the `whisper` command.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "cli/args_groups.h"

namespace transcribe::cli {

namespace {

constexpr float no_limit = std::numeric_limits<float>::max();
constexpr Range token_range{-1, 1e7};

// "-1,50257" -> ids; "" is an empty list: every token may be said.
std::string set_tokens(const std::string& list, std::optional<std::vector<int>>& tokens) {
    std::vector<int> ids;
    for (const std::string& part : split(list, ',')) {
        double id = 0;
        const bool whole = parse_number(part, id) && id == std::floor(id);
        const bool known = whole && id >= token_range.min && id <= token_range.max;
        if (!list.empty() && !known) {
            return "a list of token ids by comma, -1 for the model's own, or nothing";
        }
        if (!list.empty()) ids.push_back(static_cast<int>(id));
    }
    tokens = std::move(ids);
    return {};
}

void add_search(ArgParser& parser, Options& options, Switches& on) {
    parser.integer("--beam-size", options.beam_size, ArgParser::NumberOrNone{{1, 16}, 0},
                   "texts that are followed at once at temperature 0\n(default: None, greedy)");
    auto set_patience = [&options, &on](const std::string& text) -> std::string {
        on.patience = text != "None";
        double value = 1;
        const bool ok = !on.patience || (parse_number(text, value) && value > 0 && value <= 16);
        options.patience = static_cast<float>(value);
        return ok ? "" : "a number above 0, up to 16, or None";
    };
    parser.checked(
        "--patience", "X", set_patience,
        "the search ends after this many times --beam-size\nfinished texts (default: 1)");
    parser.number("--length-penalty", options.length_penalty, Range{0, 1},
                  "ranks finished texts by log probability over\n"
                  "((5 + tokens) / 6) ^ X (default: None, by its mean)");
    parser.integer(
        "--best-of", options.best_of, ArgParser::NumberOrNone{{1, 16}, 1},
        "texts sampled above temperature 0, of which the\nlikeliest is kept (default: 5)");
}

void add_tokens(ArgParser& parser, Options& options, Switches& on) {
    parser.checked(
        "--suppress-tokens", "LIST",
        [&options](const std::string& list) { return set_tokens(list, options.suppress_tokens); },
        "ids of tokens never to say, by comma; -1 stands for the\n"
        "model's own list of signs that are not speech\n(default: -1)");
    parser.boolean("--suppress-blank", options.suppress_blank,
                   "no window begins with a blank or its end (default: True)");
    parser.integer("--max-tokens", options.max_tokens, ArgParser::NumberOrNone{{1, 1024}, 0},
                   "of a window (default: None, the model's limit)");
    parser.flag("--without-timestamps", on.without_timestamps,
                "decode without time tokens: one segment a window");
    parser.number("--max-initial-timestamp", options.max_initial_timestamp_s,
                  ArgParser::NumberOrNone{{0, 30}, 30},
                  "latest start of a window's first segment, in seconds\n(default: 1)");
}

void add_ladder(ArgParser& parser, Options& options) {
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

}  // namespace

void add_decoding(ArgParser& parser, Options& options, Switches& on) {
    parser.group("Decoding");
    parser.boolean("--condition-on-previous-text", options.condition_on_previous_text,
                   "each window sees the text of the ones before it; True\n"
                   "decodes windows one after another (default: True for\n"
                   "recordings up to a minute, see --batch-size)");
    add_search(parser, options, on);
    add_tokens(parser, options, on);
    add_ladder(parser, options);
}

void add_words(ArgParser& parser, Options& options, Switches& on) {
    parser.group("Words");
    parser.boolean("--word-timestamps", on.word_timestamps,
                   "when each word was said, in json and jsonl; segments\n"
                   "begin and end with their words (default: False; True\n"
                   "for subtitles in limited lines or with marked words)");
    parser.text(
        "--prepend-punctuations", options.prepend_punctuations,
        "signs that go with the word after them\n(default: " + options.prepend_punctuations + ")");
    parser.text(
        "--append-punctuations", options.append_punctuations,
        "signs that go with the word before them\n(default: " + options.append_punctuations + ")");
    parser.number("--hallucination-silence-threshold", options.hallucination_silence_threshold_s,
                  ArgParser::NumberOrNone{{0.1, 1e6}, 0},
                  "with --word-timestamps: drop what looks invented beside\n"
                  "more silence than this, in seconds (default: None)");
}

void settle_words(TranscribeArgs& args, const Switches& on) {
    Options& options = args.options;
    const bool helps = args.layout.asked() && writes_subtitles(args.formats);
    options.word_timestamps = on.word_timestamps.value_or(helps);
    if (options.hallucination_silence_threshold_s > 0 && !options.word_timestamps) {
        args.warnings.push_back(
            "--hallucination-silence-threshold has no effect without --word-timestamps True");
    }
}

Status check_decoding(const ArgParser& parser, const Options& options, const Switches& on) {
    if (!on.patience) return {};
    if (options.beam_size == 0) return parser.fault("--patience needs --beam-size");
    const auto n_finished = std::lround(options.patience * static_cast<float>(options.beam_size));
    if (n_finished >= 1) return {};
    return parser.fault(fmt::format("--patience {} times --beam-size {} rounds to no text at all",
                                    options.patience, options.beam_size));
}

}  // namespace transcribe::cli
