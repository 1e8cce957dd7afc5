// Subtitles (src/output/layout): what the `whisper` command writes for the same result and options
// (data/subtitles.json, by tools/make_subtitles_golden.py); and what it has no answer for: segments
// without word times, text without blanks, characters of several code points.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "output/graphemes.h"
#include "output/layout.h"
#include "output/writers.h"

namespace transcribe {
namespace {

using nlohmann::json;

i64 milliseconds(const json& seconds) {
    return std::llround(seconds.get<double>() * 1000);
}

Transcript result_of(const json& golden) {
    Transcript transcript;
    transcript.duration_s = 10000;
    for (const json& each : golden["segments"]) {
        Segment segment;
        segment.t0_ms = milliseconds(each["start"]);
        segment.t1_ms = milliseconds(each["end"]);
        segment.text = each["text"];
        for (const json& word : each["words"]) {
            segment.words.push_back(
                {word["word"], milliseconds(word["start"]), milliseconds(word["end"]), 1});
        }
        transcript.segments.push_back(std::move(segment));
    }
    return transcript;
}

Layout layout_of(const json& options) {
    return {.max_line_width = options.value("max_line_width", 0),
            .max_line_count = options.value("max_line_count", 0),
            .max_words_per_line = options.value("max_words_per_line", 0),
            .highlight_words = options.value("highlight_words", false)};
}

TEST(Subtitles, AreThoseOfTheWhisperCommand) {
    std::ifstream file(TESTS_DIR "/unit/data/subtitles.json");
    const json golden = json::parse(file);
    ASSERT_GT(golden["cases"].size(), 30u);
    for (const json& each : golden["cases"]) {
        const Transcript transcript =
            result_of(golden["results"][each["result"].get<std::string>()]);
        const Layout layout = layout_of(each["options"]);
        const std::string where = each["result"].dump() + each["options"].dump();
        for (const char* format : {"srt", "vtt"}) {
            EXPECT_EQ(find_writer(format)->write(transcript, {.layout = layout}),
                      each[format].get<std::string>())
                << format << " of " << where;
        }
    }
}

Segment spoken(i64 t0_ms, i64 t1_ms, std::string text) {
    Segment segment;
    segment.t0_ms = t0_ms;
    segment.t1_ms = t1_ms;
    segment.text = std::move(text);
    return segment;
}

std::vector<Subtitle> laid_out(std::vector<Segment> segments, const Layout& layout) {
    Transcript transcript;
    transcript.duration_s = 1000;
    transcript.segments = std::move(segments);
    return lay_out(transcript, layout);
}

TEST(Subtitles, WithoutWordTimesEachPartTakesItsShareOfTheTime) {
    const auto cues = laid_out({spoken(1000, 3000, " aaaa bbbb cccc dddd")},
                               {.max_line_width = 9, .max_line_count = 1});
    ASSERT_EQ(cues.size(), 2u);
    EXPECT_EQ(cues[0].text, "aaaa bbbb");
    EXPECT_EQ(cues[0].t0_ms, 1000);
    EXPECT_EQ(cues[0].t1_ms, 2000);
    EXPECT_EQ(cues[1].text, "cccc dddd");
    EXPECT_EQ(cues[1].t0_ms, cues[0].t1_ms);
    EXPECT_EQ(cues[1].t1_ms, 3000);
}

TEST(Subtitles, ASegmentMayGoOnTheLineOfTheOneBefore) {
    const auto cues = laid_out({spoken(0, 1000, " One. "), spoken(1000, 2000, " Two three.")},
                               {.max_line_width = 9, .max_line_count = 2});
    ASSERT_EQ(cues.size(), 1u);
    EXPECT_EQ(cues[0].text, "One. Two\nthree.");
}

TEST(Subtitles, WithoutALimitTheSegmentStaysWhole) {
    const auto cues = laid_out({spoken(1000, 3000, " aaaa  bbbb ")}, {});
    ASSERT_EQ(cues.size(), 1u);
    EXPECT_EQ(cues[0].text, "aaaa  bbbb");
    EXPECT_EQ(cues[0].t0_ms, 1000);
    EXPECT_EQ(cues[0].t1_ms, 3000);
}

TEST(Subtitles, TextWithoutBlanksIsWrapped) {
    const auto cues =
        laid_out({spoken(0, 1000, "今天天气很好，我们去公园散步吧。")}, {.max_line_width = 6});
    ASSERT_EQ(cues.size(), 1u);
    EXPECT_EQ(cues[0].text, "今天天气很\n好，我们去公\n园散步吧。");
}

TEST(Subtitles, AWordWiderThanTheLineIsCutWhereItsScriptAllows) {
    Segment segment = spoken(0, 1000, " Tokyo 東京都庁舎");
    segment.words = {{" Tokyo", 0, 400, 1}, {" 東京都庁舎", 400, 1000, 1}};
    const auto cues = laid_out({segment}, {.max_line_width = 3, .max_line_count = 1});
    ASSERT_EQ(cues.size(), 3u);
    EXPECT_EQ(cues[0].text, "Tokyo");
    EXPECT_EQ(cues[1].text, "東京都");
    EXPECT_EQ(cues[2].text, "庁舎");
    EXPECT_EQ(cues[2].t1_ms, 1000);
    EXPECT_EQ(cues[1].t1_ms, cues[2].t0_ms);
}

TEST(Subtitles, WordsThatDivideACharacterStayTogether) {
    // A family of emoji joined by U+200D, and a Devanagari vowel sign.
    Segment segment = spoken(0, 1000, " 👩‍👧 कि");
    segment.words = {
        {" 👩", 0, 100, 1}, {"\u200D👧", 100, 200, 1}, {" क", 200, 300, 1}, {"ि", 300, 400, 1}};
    const auto cues = laid_out({segment}, {.max_words_per_line = 1});
    ASSERT_EQ(cues.size(), 2u);
    EXPECT_EQ(cues[0].text, "👩\u200D👧");
    EXPECT_EQ(cues[0].t1_ms, 200);
    EXPECT_EQ(cues[1].text, "कि");
    EXPECT_EQ(cues[1].t0_ms, 200);
}

TEST(Subtitles, TheMarkedWordIsEscapedAndTheTagIsNot) {
    Transcript transcript;
    transcript.duration_s = 1;
    transcript.segments = {spoken(0, 1000, " R&D --> <b>")};
    transcript.segments[0].words = {
        {" R&D", 0, 500, 1}, {" -->", 500, 700, 1}, {" <b>", 700, 1000, 1}};
    const std::string vtt =
        find_writer("vtt")->write(transcript, {.layout = {.highlight_words = true}});
    EXPECT_NE(vtt.find("\n<u>R&amp;D</u> -> &lt;b>\n"), std::string::npos) << vtt;
    EXPECT_NE(vtt.find("\nR&amp;D -> <u>&lt;b></u>\n"), std::string::npos) << vtt;
}

TEST(Subtitles, TimesStayInOrderAndInside) {
    Transcript transcript;
    transcript.duration_s = 1;
    transcript.segments = {spoken(0, 5000, " a b")};
    transcript.segments[0].words = {{" a", 800, 700, 1}, {" b", 600, 5000, 1}};
    for (const bool highlight : {false, true}) {
        for (const Subtitle& cue : lay_out(transcript, {.highlight_words = highlight})) {
            EXPECT_LE(0, cue.t0_ms);
            EXPECT_LE(cue.t0_ms, cue.t1_ms);
            EXPECT_LE(cue.t1_ms, 1000);
        }
    }
}

std::vector<std::string> parts(std::string_view text) {
    std::vector<std::string> out;
    for (std::string_view part : line_parts(text)) out.emplace_back(part);
    return out;
}

TEST(Graphemes, LinesEndBeforeWordsAndBetweenSignsOfUnspacedScripts) {
    using Parts = std::vector<std::string>;
    EXPECT_EQ(parts(" Hello, wide  world"), (Parts{" Hello,", " wide", "  world"}));
    EXPECT_EQ(parts("「東京」へ"), (Parts{"「東", "京」", "へ"}));
    EXPECT_EQ(parts("サーバーは2台"), (Parts{"サー", "バー", "は", "2", "台"}));
    EXPECT_EQ(parts("한국어 문장"), (Parts{"한국어", " 문장"}));
    EXPECT_EQ(parts("ที่นี่"), (Parts{"ที่", "นี่"}));
    EXPECT_EQ(parts(""), Parts{});
    EXPECT_EQ(n_graphemes("e\u0301🇩🇪🇫🇷x"), 4u);
    EXPECT_EQ(n_graphemes(""), 0u);
}

}  // namespace
}  // namespace transcribe
