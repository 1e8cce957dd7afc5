// What the writers promise (src/output): times, order, escapes, valid bytes, files whole or absent.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "../tmp.h"
#include "output/cues.h"
#include "output/events.h"
#include "output/file.h"
#include "output/writers.h"

namespace transcribe {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

Segment segment(i64 t0_ms, i64 t1_ms, std::string text) {
    Segment s;
    s.t0_ms = t0_ms;
    s.t1_ms = t1_ms;
    s.text = std::move(text);
    return s;
}

Transcript transcript(double duration_s, std::vector<Segment> segments) {
    Transcript t;
    t.duration_s = duration_s;
    t.language = "en";
    for (Segment& s : segments) t.text += s.text;
    t.segments = std::move(segments);
    return t;
}

std::string write(const char* format, const Transcript& t) {
    return find_writer(format)->write(t, {.file = "talk.wav"});
}

TEST(Cues, TimesOfRecordingsOverAnHour) {
    EXPECT_EQ(srt_time(3723456), "01:02:03,456");
    EXPECT_EQ(srt_time(0), "00:00:00,000");
    EXPECT_EQ(srt_time(360000000), "100:00:00,000");
    EXPECT_EQ(vtt_time(3599999), "59:59.999");
    EXPECT_EQ(vtt_time(3600000), "01:00:00.000");
    EXPECT_EQ(lrc_time(3723456), "62:03.45");
}

TEST(Cues, StayInsideTheRecordingAndInOrder) {
    auto cue = make_cue(segment(5000, 9000, " late"), 7.12);
    EXPECT_EQ(cue->t1_ms, 7120);
    cue = make_cue(segment(5000, 4000, " back"), 7.12);
    EXPECT_EQ(cue->t0_ms, 5000);
    EXPECT_EQ(cue->t1_ms, 5000);
    cue = make_cue(segment(-20, 9000, " beyond"), 0.9999);
    EXPECT_EQ(cue->t0_ms, 0);
    EXPECT_EQ(cue->t1_ms, 999);
}

TEST(Cues, BlankSegmentsAreLeftOutAndLinesAreJoined) {
    EXPECT_FALSE(make_cue(segment(0, 1000, " \n "), 2));
    EXPECT_EQ(make_cue(segment(0, 1000, " two\n\nlines "), 2)->text, "two  lines");
}

TEST(Writers, SubRip) {
    Transcript t =
        transcript(3700, {segment(0, 1500, " Hi."), segment(3600000, 3601000, " a ---> b")});
    EXPECT_EQ(write("srt", t),
              "1\n00:00:00,000 --> 00:00:01,500\nHi.\n\n"
              "2\n01:00:00,000 --> 01:00:01,000\na -> b\n\n");
}

TEST(Writers, WebVttEscapesWhatWouldBeMarkup) {
    Transcript t = transcript(2, {segment(0, 1500, " R&D <b> --> x")});
    EXPECT_EQ(write("vtt", t), "WEBVTT\n\n00:00.000 --> 00:01.500\nR&amp;D &lt;b> -> x\n\n");
}

TEST(Writers, Tables) {
    Transcript t = transcript(2, {segment(10, 1500, " say \"a,\tb\"")});
    EXPECT_EQ(write("tsv", t), "start\tend\ttext\n10\t1500\tsay \"a, b\"\n");
    EXPECT_EQ(write("csv", t), "start,end,text\n10,1500,\"say \"\"a,\tb\"\"\"\n");
    EXPECT_EQ(write("lrc", t), "[00:00.01]say \"a,\tb\"\n");
    EXPECT_EQ(write("txt", t), "say \"a,\tb\"\n");
}

TEST(Writers, NothingSaid) {
    Transcript t = transcript(10, {});
    EXPECT_EQ(write("txt", t), "");
    EXPECT_EQ(write("srt", t), "");
    EXPECT_EQ(write("vtt", t), "WEBVTT\n\n");
    json value = json::parse(write("json", t));
    EXPECT_EQ(value["text"], "");
    EXPECT_EQ(value["segments"], json::array());
    EXPECT_EQ(find_writer("doc"), nullptr);
}

TEST(Writers, JsonHasTheSchemaOfTheWhisperCommand) {
    Segment s = segment(0, 7740, " Hello.");
    s.seek = 3000;
    s.tokens = {50363, 23};
    s.temperature = 0.2f;
    Transcript t = transcript(7.74, {s});
    t.text = "Hello.";
    EXPECT_EQ(write("json", t),
              R"({"text":"Hello.","language":"en","language_probability":0.0,"duration":7.74,)"
              R"("segments":[{"id":0,"seek":3000,)"
              R"("start":0.0,"end":7.74,"text":" Hello.","tokens":[50363,23],"temperature":0.2,)"
              R"("avg_logprob":0.0,"compression_ratio":0.0,"no_speech_prob":0.0}]})"
              "\n");
}

TEST(Writers, JsonIsValidWhateverItHolds) {
    Segment s = segment(0, 9000, " cut \xE3\x81 \"\\\n");
    s.avg_logprob = std::numeric_limits<float>::quiet_NaN();
    s.compression_ratio = std::numeric_limits<float>::infinity();
    s.words = {{" cut", 0, 9000, 0.5f}};
    json value = json::parse(write("json", transcript(2.5, {s})));
    const json& got = value["segments"][0];
    EXPECT_EQ(got["text"], " cut \xEF\xBF\xBD \"\\\n");
    EXPECT_EQ(got["end"], 2.5);
    EXPECT_TRUE(got["avg_logprob"].is_null());
    EXPECT_TRUE(got["compression_ratio"].is_null());
    EXPECT_EQ(got["words"][0],
              (json{{"word", " cut"}, {"start", 0.0}, {"end", 2.5}, {"probability", 0.5}}));
}

TEST(Events, OneLineEachWithTheNameOfTheFile) {
    const std::string name = "a\"\\\n\xFF.wav";
    Transcript t = transcript(2, {segment(0, 1000, " a"), segment(1000, 2000, " b")});
    std::istringstream lines(find_writer("jsonl")->write(t, {.file = name}));
    std::vector<json> events;
    for (std::string line; std::getline(lines, line);) events.push_back(json::parse(line));
    ASSERT_EQ(events.size(), 3u);
    EXPECT_EQ(events[0]["event"], "segment");
    EXPECT_EQ(events[1]["text"], " b");
    EXPECT_EQ(events[2]["event"], "done");
    EXPECT_EQ(events[2]["complete"], true);
    for (const json& event : events) EXPECT_EQ(event["file"], "a\"\\\n\xEF\xBF\xBD.wav");
    json error = json::parse(error_event(name, {Code::bad_audio, "no sound"}));
    EXPECT_EQ(error["event"], "error");
    EXPECT_EQ(error["message"], "no sound");
}

class Files : public testing::Test {
  protected:
    void SetUp() override { fs::create_directories(folder_); }
    void TearDown() override { fs::remove_all(folder_); }
    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    size_t n_files() const {
        return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {}));
    }
    static std::string bytes(const std::string& path) {
        std::ifstream in(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }

  private:
    fs::path folder_ = fs::path(test::tmp_folder()) / "output_files";
};

TEST_F(Files, AreReplacedWhole) {
    ASSERT_TRUE(write_file(path("a.txt"), "first, longer\n"));
    ASSERT_TRUE(write_file(path("a.txt"), "second\n"));
    EXPECT_EQ(bytes(path("a.txt")), "second\n");
    EXPECT_EQ(n_files(), 1u);
}

TEST_F(Files, ALongNameWorksUpToTheLimit) {
    EXPECT_TRUE(write_file(path(std::string(255, 'n')), "x"));
    Status over = write_file(path(std::string(256, 'n')), "x");
    ASSERT_FALSE(over);
    EXPECT_NE(over.error().what.find("256 bytes"), std::string::npos) << over.error().what;
    EXPECT_EQ(n_files(), 1u);
}

TEST_F(Files, FailuresLeaveNothingBehind) {
    fs::create_directories(path("folder/inside"));
    Status onto_folder = write_file(path("folder"), "x");
    ASSERT_FALSE(onto_folder);
    EXPECT_EQ(onto_folder.error().code, Code::io);
    EXPECT_EQ(n_files(), 1u);
    EXPECT_FALSE(write_file(path("missing/a.txt"), "x"));
}

}  // namespace
}  // namespace transcribe
