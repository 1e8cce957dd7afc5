// What a window's text becomes, by hand: times, bytes that wait, probabilities, where the next
// window starts. (How words are timed: whisper_words_test.cpp.)
#include "families/whisper/spoken.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/text.h"

namespace transcribe::whisper {
namespace {

constexpr int eot = 90, T = 100;  // T is <|0.00|>

class Pieces : public Tokenizer {
  public:
    int n_tokens() const override { return 2000; }
    std::vector<int> encode(std::string_view) const override { return {}; }
    std::string_view bytes(int id) const override {
        constexpr std::string_view pieces[] = {" one", " two", " \xC3", "\xA9", "."};
        return id < 5 ? pieces[id] : std::string_view();
    }
    std::string decode(const std::vector<int>&) const override { return {}; }
    int find(std::string_view) const override { return -1; }
    bool is_control(int id) const override { return id >= eot; }
};

class WhisperSpoken : public ::testing::Test {
  protected:
    WhisperSpoken() {
        config_.ids.eot = eot;
        config_.ids.timestamp_begin = T;
        config_.net.n_audio_ctx = 1500;
    }
    SpokenWindow spoken(const std::vector<int>& tokens, Place place = {}) {
        text_.tokens = tokens;
        text_.logprobs.assign(tokens.size(), std::log(0.5f));
        if (place.window.n_frames == 0) place.window = {1000, 3000};
        if (place.end_ms == 0) place.end_ms = 1000000;
        place.end_frames = place.end_ms / 10;
        return SpokenWindow(facts_, options_, text_, place);
    }

    Mel mel_{MelSpec{
        .n_mels = 1, .filters = std::vector<float>(201), .window = std::vector<float>(400)}};
    Pieces pieces_;
    Config config_;
    Facts facts_{config_, pieces_, mel_};
    Options options_;
    WindowText text_;
};

TEST_F(WhisperSpoken, WithoutWordsTimesAreThoseOfTheTimestamps) {
    SpokenWindow window = spoken({T, 0, T + 50, T + 60, 1, 4, T + 100, T + 100, 0});
    auto segments = window.segments();
    ASSERT_EQ(segments.size(), 2u);
    EXPECT_EQ(segments[1].text, " two.");
    EXPECT_EQ(segments[1].t0_ms, 11200);
    EXPECT_EQ(segments[1].t1_ms, 12000);
    EXPECT_EQ(segments[1].seek, 1000);
    EXPECT_EQ(segments[1].tokens, (std::vector<int>{T + 60, 1, 4, T + 100}));
    ASSERT_EQ(segments[1].token_probabilities.size(), 4u);
    EXPECT_FLOAT_EQ(segments[1].token_probabilities[2], 0.5f);
    EXPECT_TRUE(segments[1].words.empty());
    EXPECT_EQ(window.next_seek_frames(), 1200);
    EXPECT_EQ(window.text_tokens(), (std::vector<int>{0, 1, 4}));
}

TEST_F(WhisperSpoken, WithWordsTheNextWindowStartsWhereTheyEnd) {
    SpokenWindow window = spoken({T, 0, 1, 4, T + 100, T + 100, 0});
    window.add_words({{5, 20, 40, 45}, {0.5f, 0.25f, 0.75f}}, "en");
    auto segments = window.segments();
    ASSERT_EQ(segments.size(), 1u);
    ASSERT_EQ(segments[0].words.size(), 2u);
    EXPECT_EQ(segments[0].words[0].text, " one");
    EXPECT_EQ(segments[0].words[0].t0_ms, 10100);
    EXPECT_EQ(segments[0].words[1].text, " two.");
    EXPECT_FLOAT_EQ(segments[0].words[1].probability, 0.25f);
    EXPECT_EQ(segments[0].t0_ms, segments[0].words[0].t0_ms);
    EXPECT_EQ(segments[0].t1_ms, segments[0].words[1].t1_ms);
    EXPECT_DOUBLE_EQ(window.last_speech_s(), static_cast<double>(segments[0].t1_ms) / 1000);
    EXPECT_EQ(window.next_seek_frames(), segments[0].t1_ms / 10);
}

TEST_F(WhisperSpoken, WordsThatEndWhereTheWindowBeginsDoNotHoldItThere) {
    SpokenWindow window = spoken({T, 0, T + 100, T + 100, 0});
    window.add_words({{0, 2}, {0.5f}}, "en");
    EXPECT_EQ(window.next_seek_frames(), 1200);
}

TEST_F(WhisperSpoken, ACharacterBetweenSegmentsIsWhole) {
    SpokenWindow window = spoken({T, 0, 2, T + 50, T + 50, 3, 1, T + 100});
    window.add_words({{0, 10, 20, 30, 50}, {0.5f, 0.5f, 0.5f, 0.5f}}, "en");
    auto segments = window.segments();
    ASSERT_EQ(segments.size(), 2u);
    EXPECT_EQ(segments[0].text + segments[1].text, " one é two");
    for (const Segment& segment : segments) {
        for (const Word& word : segment.words) EXPECT_EQ(word.text, utf8_repair(word.text));
    }
    EXPECT_EQ(segments[1].words.back().text, " two");
}

TEST_F(WhisperSpoken, NothingEndsAfterTheRecording) {
    SpokenWindow window = spoken({T, 0, 1, T + 100}, {.window = {1000, 95}, .end_ms = 10955});
    window.add_words({{5, 20, 60}, {0.5f, 0.5f}}, "en");
    auto segments = window.segments();
    ASSERT_EQ(segments.size(), 1u);
    EXPECT_EQ(segments[0].t1_ms, 10955);
    EXPECT_EQ(segments[0].words[1].t1_ms, 10955);
}

TEST_F(WhisperSpoken, WithoutTextOrLengthNoSegment) {
    EXPECT_TRUE(spoken({T, T + 50}).segments().empty());
    EXPECT_TRUE(spoken({T + 50, 0, T + 50, T + 60}).segments().empty());
    SpokenWindow window = spoken({T, T + 50});
    window.add_words({}, "en");
    EXPECT_TRUE(window.segments().empty());
}

}  // namespace
}  // namespace transcribe::whisper
