// The groups of options of `transcribe AUDIO...`, one function each; parse_transcribe puts them
// together.
#pragma once

#include <optional>

#include "cli/arg_parser.h"
#include "cli/args.h"

namespace transcribe::cli {

// What was given and becomes something else, or must be checked with other options.
struct Switches {
    bool translate = false, without_timestamps = false, no_times = false;
    bool progress = false, no_progress = false;
    bool patience = false;
    bool vad = false;
    std::optional<bool> word_timestamps;
    RawFormat raw;
    bool raw_format = false, raw_rate = false;
};

void add_speech(ArgParser& parser, TranscribeArgs& args, Switches& on);
void add_language(ArgParser& parser, std::string& language);
void add_voice(ArgParser& parser, VoiceChoice& voice);
void add_output(ArgParser& parser, TranscribeArgs& args, Switches& on);
void add_stream(ArgParser& parser, StreamArgs& stream, Switches& on);
void add_decoding(ArgParser& parser, Options& options, Switches& on);
void add_words(ArgParser& parser, Options& options, Switches& on);

// Options that contradict each other. Errors: invalid_argument.
Status check_speech(const ArgParser& parser, const TranscribeArgs& args, const Switches& on);
Status check_output(const ArgParser& parser, const TranscribeArgs& args, const Switches& on);
Status check_stream(const ArgParser& parser, const TranscribeArgs& args, const Switches& on);
Status check_decoding(const ArgParser& parser, const Options& options, const Switches& on);

// What is left to settle when all is parsed: defaults that depend on other options, and warnings.
void settle_output(TranscribeArgs& args, const Switches& on);
bool writes_subtitles(const std::vector<const Writer*>& formats);
void settle_words(TranscribeArgs& args, const Switches& on);
void settle_stream(StreamArgs& stream, const Switches& on);

}  // namespace transcribe::cli
