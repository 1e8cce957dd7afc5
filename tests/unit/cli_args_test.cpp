// Command lines (apps/cli): what is refused, with which words; what the spellings of users mean.
#include <gtest/gtest.h>

#include <limits>

#include "cli/args.h"
#include "cli/clip.h"
#include "cli/jobs.h"
#include "cli/progress.h"

namespace transcribe::cli {
namespace {

using Words = std::vector<std::string>;

std::string fault(const Words& words) {
    auto args = parse_transcribe(words);
    return args ? "accepted" : args.error().what;
}

void expect_fault(const Words& words, const std::string& part) {
    const std::string what = fault(words);
    EXPECT_NE(what.find(part), std::string::npos) << what;
    EXPECT_NE(what.find("--help"), std::string::npos) << what;
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
}

TEST(Args, NumbersAreWholeAndInRange) {
    for (const char* value :
         {"0", "-1", "abc", "1e9", "99999999999999999999", "2.5", "", " 2", "0x4"}) {
        expect_fault({"--threads", value, "a.wav"}, "from 1 to 1024");
        expect_fault({"-t", value, "a.wav"}, "--threads: '" + std::string(value) + "'");
    }
    for (const char* value : {"abc", "-1", "nan", "inf", "1e999", "0,2", "--1", "1-"}) {
        expect_fault({"--temperature", value, "a.wav"}, "from 0 to 2");
    }
    EXPECT_EQ(parse_transcribe({"-t", "8", "a.wav"})->session.n_threads, 8);
    EXPECT_EQ(parse_transcribe({"--seed=4294967295", "a.wav"})->options.seed, 4294967295u);
    EXPECT_FLOAT_EQ(parse_transcribe({"--temperature", "2e-1", "a"})->options.temperature, 0.2f);
}

TEST(Args, WhatIsMissingOrUnknownIsNamed) {
    expect_fault({}, "no audio file");
    expect_fault({"a.wav", "-t"}, "-t: a value is missing");
    expect_fault({"-o", "-f", "srt", "a.wav"}, "-o: a value is missing");
    expect_fault({"--bogus", "a.wav"}, "unknown option '--bogus'");
    expect_fault({"-m", "a", "-m", "b", "c.wav"}, "--model");
    expect_fault({"-f", "doc", "a.wav"}, "srt");
    expect_fault({"-f", "srt,", "a.wav"}, "srt");
    expect_fault({"-l", " ", "a.wav"}, "--language");
    expect_fault({"--task", "sing", "a.wav"}, "transcribe or translate");
    expect_fault({"-", "-"}, "standard input");
    expect_fault({"--progress", "--no-progress", "a.wav"}, "exclude");
}

TEST(Args, SeveralResultsInOneStreamMustBeReadable) {
    expect_fault({"-f", "srt,json", "a.wav"}, "-o DIR");
    const auto two = plan(*parse_transcribe({"-f", "srt", "a.wav", "b.wav"}));
    ASSERT_FALSE(two);
    EXPECT_NE(two.error().what.find("-o DIR"), std::string::npos) << two.error().what;
    EXPECT_TRUE(plan(*parse_transcribe({"-f", "srt", "a.wav"})));
    EXPECT_TRUE(plan(*parse_transcribe({"-f", "jsonl", "a.wav", "b.wav"})));
}

TEST(Args, TheSpellingsOfTheWhisperCommand) {
    auto args =
        parse_transcribe({"a.wav", "--output_dir", "out", "--initial_prompt", "--my_words",
                          "--condition_on_previous_text", "False", "--no_speech_threshold=0.5",
                          "--temperature_increment_on_fallback", "None",
                          "--compression_ratio_threshold", "None", "--verbose", "False"});
    ASSERT_TRUE(args) << args.error().what;
    EXPECT_EQ(args->files, Words{"a.wav"});
    EXPECT_EQ(args->output_dir, "out");
    EXPECT_EQ(args->options.initial_prompt, "--my_words");
    EXPECT_EQ(args->options.condition_on_previous_text, false);
    EXPECT_FALSE(args->verbose);
    EXPECT_FLOAT_EQ(args->options.no_speech_threshold, 0.5f);
    EXPECT_EQ(args->options.temperature_increment, 0);
    EXPECT_EQ(args->options.compression_ratio_threshold, std::numeric_limits<float>::max());
    EXPECT_EQ(args->formats.size(), writers().size());  // -o without -f, as there
}

TEST(Args, NamesAfterTheMarkAreFiles) {
    auto args = parse_transcribe({"-q", "x.wav", "--", "--help", "-t", "[a,b]", "-", "--"});
    ASSERT_TRUE(args) << args.error().what;
    EXPECT_EQ(args->files, (Words{"x.wav", "--help", "-t", "[a,b]", "-", "--"}));
    EXPECT_TRUE(args->show.empty());
}

TEST(Args, FormatsAreTakenOnceInTheOrderGiven) {
    auto args = parse_transcribe({"-o", "out", "-f", "json,srt,json", "a.wav"});
    ASSERT_EQ(args->formats.size(), 2u);
    EXPECT_STREQ(args->formats[0]->name, "json");
    EXPECT_STREQ(args->formats[1]->name, "srt");
}

TEST(Args, HelpNamesEveryFormatAndShowsExamples) {
    const std::string help = parse_transcribe({"--help"})->show;
    for (const Writer& writer : writers()) {
        EXPECT_NE(help.find(writer.name), std::string::npos) << writer.name;
    }
    EXPECT_NE(help.find("Examples:"), std::string::npos);
    EXPECT_NE(parse_transcribe({"--version"})->show.find("ggml"), std::string::npos);
    EXPECT_NE(parse_bench({"-h"})->show.find("--runs"), std::string::npos);
}

TEST(Args, SearchHasTheLimitsOfTheWhisperCommand) {
    const auto args = parse_transcribe({"--beam_size", "5", "--patience", "1.5", "--best_of", "3",
                                        "--length_penalty", "0.5", "--max-tokens", "64", "a.wav"});
    ASSERT_TRUE(args) << args.error().what;
    EXPECT_EQ(args->options.beam_size, 5);
    EXPECT_FLOAT_EQ(args->options.patience, 1.5f);
    EXPECT_EQ(args->options.best_of, 3);
    EXPECT_FLOAT_EQ(*args->options.length_penalty, 0.5f);
    EXPECT_EQ(args->options.max_tokens, 64);
    const auto none = parse_transcribe({"--beam-size", "None", "--best-of", "None", "--patience",
                                        "None", "--length-penalty", "None", "a.wav"});
    ASSERT_TRUE(none) << none.error().what;
    EXPECT_EQ(none->options.beam_size, 0);
    EXPECT_EQ(none->options.best_of, 1);
    EXPECT_FALSE(none->options.length_penalty);
    for (const char* value : {"0", "17", "-1", "x", "2.5"}) {
        expect_fault({"--beam-size", value, "a.wav"}, "from 1 to 16");
        expect_fault({"--best-of", value, "a.wav"}, "from 1 to 16");
    }
    expect_fault({"--patience", "0", "--beam-size", "5", "a.wav"}, "above 0");
    expect_fault({"--patience", "2", "a.wav"}, "needs --beam-size");
    expect_fault({"--patience", "0.1", "--beam-size", "2", "a.wav"}, "no text at all");
    expect_fault({"--length-penalty", "1.5", "a.wav"}, "from 0 to 1");
}

TEST(Args, TokensToSuppress) {
    const auto tokens = [](const char* list) {
        return parse_transcribe({"--suppress-tokens", list, "a.wav"})->options.suppress_tokens;
    };
    EXPECT_FALSE(parse_transcribe({"a.wav"})->options.suppress_tokens);
    EXPECT_EQ(tokens("-1,50257"), (std::vector<int>{-1, 50257}));
    EXPECT_EQ(tokens(""), std::vector<int>{});
    for (const char* value : {"-2", "1,", "a", "1.5", "1;2", "99999999999"}) {
        expect_fault({"--suppress-tokens", value, "a.wav"}, "token ids");
    }
}

TEST(Args, ClipsArePairsOfSecondsThatGrow) {
    const auto clips =
        parse_transcribe({"--clip_timestamps", "0,5,10.5,20,30", "a"})->options.clips;
    ASSERT_EQ(clips.size(), 3u);
    EXPECT_EQ(clips[0].t0_ms, 0);
    EXPECT_EQ(clips[0].t1_ms, 5000);
    EXPECT_EQ(clips[1].t0_ms, 10500);
    EXPECT_EQ(clips[2].t0_ms, 30000);
    EXPECT_EQ(clips[2].t1_ms, std::numeric_limits<i64>::max());
    EXPECT_TRUE(parse_transcribe({"--clip-timestamps", "0", "a"})->options.clips.empty());
    for (const char* value : {"", "5,5", "5,4", "0,5,4,6", "-1", "a", "1,,2", "1e9"}) {
        expect_fault({"--clip-timestamps", value, "a.wav"}, "start,end");
    }
    expect_fault({"--clip-timestamps", "1,2", "--offset", "3", "a.wav"}, "excludes");
}

TEST(Args, OptionsThatContradictEachOther) {
    expect_fault({"--detect-language-per-window", "-l", "de", "a.wav"}, "--language de");
    expect_fault({"--carry-initial-prompt", "True", "a.wav"}, "--initial-prompt");
    expect_fault({"--skip-existing", "a.wav"}, "-o DIR");
    expect_fault({"--files-from", "-", "-"}, "standard input");
}

TEST(Args, SubtitleOptions) {
    const auto args = parse_transcribe({"--max_line_width", "42", "--max_line_count", "2",
                                        "--highlight_words", "True", "-f", "srt", "a.wav"});
    ASSERT_TRUE(args) << args.error().what;
    EXPECT_EQ(args->layout.max_line_width, 42);
    EXPECT_EQ(args->layout.max_line_count, 2);
    EXPECT_TRUE(args->layout.highlight_words);
    EXPECT_TRUE(args->warnings.empty());
    EXPECT_TRUE(args->options.word_timestamps);
    EXPECT_FALSE(parse_transcribe({"-f", "srt", "a.wav"})->options.word_timestamps);
    const auto without = parse_transcribe(
        {"--word-timestamps", "False", "--max-line-width", "42", "-f", "srt", "a.wav"});
    EXPECT_FALSE(without->options.word_timestamps);
    expect_fault({"--word-timestamps", "False", "--highlight-words", "a.wav"}, "--highlight-words");
    EXPECT_FALSE(parse_transcribe({"--max-line-width", "None", "a.wav"})->layout.asked());
    expect_fault({"--max-words-per-line", "0", "a.wav"}, "from 1 to 1000");
    const auto warnings = [](const Words& words) { return parse_transcribe(words)->warnings; };
    EXPECT_EQ(warnings({"--max-line-count", "2", "-f", "srt", "a.wav"}).size(), 1u);
    EXPECT_EQ(warnings({"--max-line-width", "9", "--max-words-per-line", "2", "-f", "vtt", "a.wav"})
                  .size(),
              1u);
    EXPECT_EQ(warnings({"--max-line-width", "9", "a.wav"}).size(), 1u);
}

TEST(Args, WordOptions) {
    const auto args = parse_transcribe({"--word_timestamps", "True", "--prepend_punctuations",
                                        "\"(", "--append_punctuations", ".,",
                                        "--hallucination_silence_threshold", "2", "a.wav"});
    ASSERT_TRUE(args) << args.error().what;
    EXPECT_TRUE(args->options.word_timestamps);
    EXPECT_EQ(args->options.prepend_punctuations, "\"(");
    EXPECT_EQ(args->options.append_punctuations, ".,");
    EXPECT_FLOAT_EQ(args->options.hallucination_silence_threshold_s, 2);
    EXPECT_TRUE(args->warnings.empty());
    const auto threshold = [](const char* value) {
        return parse_transcribe({"--hallucination-silence-threshold", value, "a.wav"});
    };
    EXPECT_EQ(threshold("None")->options.hallucination_silence_threshold_s, 0);
    EXPECT_EQ(threshold("2")->warnings.size(), 1u);
    EXPECT_FALSE(threshold("0"));
}

TEST(Args, SoundAsItComes) {
    const auto raw =
        parse_transcribe({"--stream", "--raw-format", "f32le", "--raw-rate", "8000", "-"});
    ASSERT_TRUE(raw) << raw.error().what;
    EXPECT_TRUE(raw->stream.raw->is_float);
    EXPECT_EQ(raw->stream.raw->rate_hz, 8000);
    const auto live = parse_transcribe({"--live"});
    ASSERT_TRUE(live) << live.error().what;
    EXPECT_EQ(plan(*live)->at(0).input, "live");
    EXPECT_TRUE(parse_transcribe({"--live-device", "alsa:hw:1"})->stream.live);
    expect_fault({"--live", "a.wav"}, "--live excludes");
    expect_fault({"--stream", "a.wav", "b.wav"}, "one AUDIO");
    expect_fault({"--stream", "--offset", "1", "-"}, "--offset");
    expect_fault({"--stream", "--prefix", "And", "-"}, "--prefix");
    expect_fault({"--raw-format", "s16le", "-"}, "--stream");
    expect_fault({"--stream", "--raw-format", "u8", "-"}, "s16le or f32le");
    expect_fault({"--stream", "--raw-format", "s16le", "--raw-rate", "1e9", "-"}, "768000");
}

TEST(Args, OtherCommands) {
    EXPECT_FALSE(parse_convert({"source"}));
    EXPECT_FALSE(parse_convert({"--type", "q4_9", "source", "out.gguf"}));
    EXPECT_EQ(parse_convert({"--type", "q8_0", "s", "o"})->type, Dtype::q8_0);
    EXPECT_EQ(parse_convert({"--type", "Q4_K_M", "s", "o"})->type, Dtype::q4_k);
    EXPECT_FALSE(parse_quantize({"in.gguf", "out.gguf"}));
    EXPECT_EQ(parse_quantize({"in.gguf", "out.gguf", "q5_0"})->type, Dtype::q5_0);
    EXPECT_NE(
        parse_quantize({"in.gguf", "out.gguf", "q4_9"}).error().what.find("'q4_9' is not one"),
        std::string::npos);
    EXPECT_FALSE(parse_convert({"s", "o"})->type.has_value());
    EXPECT_EQ(parse_convert({"--lm", "qwen", "s", "o"})->lm, "qwen");
    EXPECT_FALSE(parse_bench({"--runs", "0", "a.wav"}));
    EXPECT_FALSE(parse_nothing("devices", "Lists.", {"extra"}));
    EXPECT_EQ(parse_pull({"tiny.en"})->name, "tiny.en");
}

TEST(Clip, SkipsAndStops) {
    std::vector<float> samples(4 * sample_rate);
    for (size_t i = 0; i < samples.size(); i++) samples[i] = static_cast<float>(i);
    MemorySource whole(samples);
    ClipSource clip(whole, {.offset_s = 1.5, .duration_s = 2});
    std::vector<float> out(3 * sample_rate);
    for (int round = 0; round < 2; round++) {
        ASSERT_EQ(*clip.read(std::span(out).first(1000)), 1000u);
        EXPECT_EQ(out[0], 1.5f * sample_rate);
        EXPECT_EQ(*clip.read(out), 2u * sample_rate - 1000);
        EXPECT_EQ(*clip.read(out), 0u);
        ASSERT_TRUE(clip.rewind());
    }
    ClipSource beyond(whole, {.offset_s = 5});
    ASSERT_TRUE(whole.rewind());
    auto read = beyond.read(out);
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().what.find("4.00 s"), std::string::npos) << read.error().what;
}

TEST(Clip, TimesCountFromTheStartOfTheRecording) {
    Transcript transcript;
    transcript.duration_s = 2;
    transcript.segments.resize(1);
    transcript.segments[0].t1_ms = 2000;
    shift(transcript, {.offset_s = 1.5, .duration_s = 2});
    EXPECT_EQ(transcript.segments[0].t0_ms, 1500);
    EXPECT_EQ(transcript.segments[0].t1_ms, 3500);
    EXPECT_EQ(transcript.segments[0].seek, 150);
    EXPECT_DOUBLE_EQ(transcript.duration_s, 3.5);
}

TEST(Progress, TellsTheRestAndFitsTheTerminal) {
    ProgressState state{.label = "talk.wav", .done = 60, .total = 120, .elapsed_s = 10};
    EXPECT_EQ(progress_line(state, 120),
              "talk.wav [##########..........]  50%  1:00 of 2:00, 0:10 elapsed, 0:10 left");
    state.label = std::string(50, 'x') + "\n";
    EXPECT_EQ(progress_line(state, 120).find('\n'), std::string::npos);
    EXPECT_LE(progress_line(state, 40).size(), 40u);
    EXPECT_LE(progress_line(state, 1).size(), 1u);
    state.total = 0;
    EXPECT_NE(progress_line(state, 120).find("1:00, 0:10 elapsed"), std::string::npos);
    EXPECT_EQ(clock_text(3605), "1:00:05");
}

}  // namespace
}  // namespace transcribe::cli
