// Text of a recording that goes on (src/engine/stream, agreement; apps/cli/captions), with a
// decoder that knows what is said: a word every half second. Samples count from the start of the
// recording, so that it sees which part of it the window holds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cli/captions.h"
#include "engine/agreement.h"
#include "engine/stream.h"

namespace transcribe {
namespace {

Word word(std::string text, i64 t0_ms, i64 t1_ms) {
    return {.text = std::move(text), .t0_ms = t0_ms, .t1_ms = t1_ms, .probability = 1};
}

std::vector<Word> words(const std::vector<std::string>& texts) {
    std::vector<Word> out;
    for (size_t i = 0; i < texts.size(); i++) {
        const auto at = static_cast<i64>(i);
        out.push_back(word(" " + texts[i], at * 500, at * 500 + 400));
    }
    return out;
}

TEST(Agreement, WordsAreComparedAsTheyAreSpoken) {
    EXPECT_EQ(spoken(" Straße,"), spoken("STRASSE"));
    EXPECT_EQ(spoken(" don\u2019t!"), spoken("dont"));
    EXPECT_NE(spoken(" a"), spoken(" b"));
    EXPECT_NE(spoken(" -"), "");
    EXPECT_EQ(n_agreed(words({"So,", "it", "is."}), words({"so", "it", "was", "is"})), 2u);
    EXPECT_EQ(n_agreed({}, words({"a"})), 0u);
    EXPECT_EQ(n_different(words({"a", "b", "c"}), words({"A.", "x", "c", "d"})), 2u);
}

TEST(Agreement, WhatWasSaidIsFoundAgain) {
    const auto said = words({"the", "cat", "the", "cat", "sat"});
    EXPECT_EQ(n_repeated(said, words({"the", "cat", "the", "cat", "sat", "down"})), 5u);
    EXPECT_EQ(n_repeated(said, words({"The", "cap", "the", "cat", "sat."})), 5u);
    EXPECT_EQ(n_repeated({}, said), 0u);
    EXPECT_EQ(n_repeated(said, {}), 0u);
    // Other words at the same time: time decides.
    EXPECT_EQ(n_repeated(said, words({"v", "w", "x", "y", "z", "down", "there"})), 5u);
}

TEST(Agreement, RepeatedWordsAreToldApartByTime) {
    const auto said = words({"no", "no"});
    EXPECT_EQ(n_repeated(said, words({"no", "no", "no", "no"})), 2u);
}

class Streams : public testing::Test {
  protected:
    static std::string name(i64 i) { return " w" + std::to_string(i) + (i % 10 == 9 ? "." : ""); }

    // Words that end before the window does; of one that is cut off, something else.
    Expected<Transcript> decode(AudioSource& source, const Options& options) {
        n_decodings_++;
        options_ = options;
        if (n_decodings_ == aborted_) return Error{Code::aborted, "cancelled"};
        std::vector<float> samples(60 * sample_rate);
        const size_t n = *source.read(samples);
        const auto start_ms = static_cast<i64>(std::llround(samples[0] / 16));
        const i64 end_ms = start_ms + static_cast<i64>(n) / 16;
        window_s_max_ = std::max(window_s_max_, static_cast<double>(n) / sample_rate);
        Transcript transcript;
        transcript.language = n_decodings_ == 1 ? "de" : "fr";
        Segment segment;
        for (i64 i = (start_ms + 499) / 500; i * 500 < end_ms; i++) {
            if (i >= silent_from_ && i < silent_to_) continue;
            const bool cut = i * 500 + 400 > end_ms;
            const std::string text = cut ? " cut" + std::to_string(n_decodings_) : name(i);
            Word heard = word(text, i * 500 - start_ms, i * 500 + 400 - start_ms);
            if (i == doubted_) heard.probability = 0.3f;
            segment.text += heard.text;
            segment.t1_ms = heard.t1_ms;
            if (with_words_) segment.words.push_back(heard);
            if (i % 10 == 9) {
                transcript.segments.push_back(segment);
                segment = {};
                segment.t0_ms = heard.t1_ms;
            }
        }
        if (!segment.text.empty()) transcript.segments.push_back(segment);
        return transcript;
    }

    Stream stream(StreamOptions options = {}) {
        return {[this](AudioSource& source, const Options& decoding) {
                    return decode(source, decoding);
                },
                std::move(options)};
    }

    void feed(Stream& stream, double seconds) {
        std::vector<float> samples(static_cast<size_t>(seconds * sample_rate));
        for (float& sample : samples) sample = static_cast<float>(n_fed_++);
        stream.feed(samples);
    }

    // Feeds in steps and gathers what is committed.
    void run(Stream& stream, double seconds, double step_s) {
        for (int i = 0; i < std::lround(seconds / step_s); i++) {
            feed(stream, step_s);
            if (!stream.is_due()) continue;
            const auto text = stream.update();
            ASSERT_TRUE(text) << text.error().what;
            for (const Word& each : text->committed) committed_.push_back(each);
        }
    }

    void finish(Stream& stream) {
        const auto text = stream.finish();
        ASSERT_TRUE(text) << text.error().what;
        for (const Word& each : text->committed) committed_.push_back(each);
    }

    std::string committed_text() const {
        std::string text;
        for (const Word& each : committed_) text += each.text;
        return text;
    }

    static std::string said(i64 n) {
        std::string text;
        for (i64 i = 0; i < n; i++) text += name(i);
        return text;
    }

    std::vector<Word> committed_;
    Options options_;  // of the last decoding
    int n_decodings_ = 0, aborted_ = 0;
    i64 n_fed_ = 0, silent_from_ = 0, silent_to_ = 0;  // words that are not said
    i64 doubted_ = -1;                                 // a word
    double window_s_max_ = 0;
    bool with_words_ = true;
};

TEST_F(Streams, ADoubtfulWordTakesThreeDecodings) {
    Stream s = stream();
    doubted_ = 1;
    run(s, 2, 1);
    EXPECT_EQ(committed_text(), said(1));
    run(s, 1, 1);
    EXPECT_EQ(committed_text(), said(4));
}

TEST_F(Streams, EveryWordIsCommittedOnceAndInOrder) {
    Stream s = stream();
    run(s, 100, 0.8);
    EXPECT_GT(committed_.size(), 190u);  // no more than the last words are open
    finish(s);
    EXPECT_EQ(committed_text(), said(200));
    EXPECT_EQ(s.transcript().text, said(200).substr(1));
    for (size_t i = 0; i < committed_.size(); i++) {
        EXPECT_NEAR(static_cast<double>(committed_[i].t0_ms), static_cast<double>(i) * 500, 2);
    }
    EXPECT_NEAR(s.transcript().duration_s, 100, 0.01);
}

TEST_F(Streams, TheWindowStaysShort) {
    Stream s = stream({.decoding = {}, .window_s = 10});
    run(s, 100, 1);
    EXPECT_LT(window_s_max_, 10 + 5 + 1.5);  // a sentence more
}

TEST_F(Streams, NothingIsCommittedThatWasHeardOnce) {
    Stream s = stream();
    feed(s, 3);
    const auto first = s.update();
    EXPECT_TRUE(first->committed.empty());
    EXPECT_EQ(first->partial, said(6));
    feed(s, 0.7);
    const auto second = s.update();
    EXPECT_EQ(second->committed.size(), 6u);
    EXPECT_EQ(second->partial, " w6 cut2");
}

TEST_F(Streams, ADecodingIsDueAfterAStep) {
    Stream s = stream({.decoding = {}, .step_s = 2});
    feed(s, 1.9);
    EXPECT_FALSE(s.is_due());
    feed(s, 0.2);
    EXPECT_TRUE(s.is_due());
    ASSERT_TRUE(s.update());
    EXPECT_FALSE(s.is_due());
}

TEST_F(Streams, SilenceIsDropped) {
    silent_from_ = 10;
    silent_to_ = 120;
    Stream s = stream();
    run(s, 60, 1);
    EXPECT_LE(window_s_max_, 20);
    run(s, 10, 1);
    finish(s);
    std::string expected = said(10);
    for (i64 i = 120; i < 140; i++) expected += name(i);
    EXPECT_EQ(committed_text(), expected);
}

TEST_F(Streams, TheLanguageAndWhatWasSaidGoIntoTheNextDecoding) {
    StreamOptions asked;
    asked.decoding.initial_prompt = " Names. ";
    Stream s = stream(asked);
    run(s, 40, 1);
    EXPECT_EQ(options_.language, "de");
    EXPECT_TRUE(options_.word_timestamps);
    EXPECT_TRUE(options_.one_window);
    // What was said before the window, and then in it.
    ASSERT_TRUE(options_.initial_prompt.starts_with("Names. w")) << options_.initial_prompt;
    EXPECT_FALSE(options_.prefix.empty());
    const std::string text = options_.initial_prompt.substr(6) + options_.prefix;
    EXPECT_NE(said(80).find(text), text.npos) << text;
    EXPECT_EQ(s.transcript().language, "de");
    finish(s);
    EXPECT_FALSE(options_.one_window);
}

TEST_F(Streams, ACancelledDecodingChangesNothing) {
    aborted_ = 3;
    Stream s = stream();
    feed(s, 3);
    ASSERT_TRUE(s.update());
    feed(s, 1);
    ASSERT_EQ(s.update()->committed.size(), 6u);
    feed(s, 1);
    EXPECT_EQ(s.update().error().code, Code::aborted);
    EXPECT_EQ(s.finish()->committed.size(), 4u);
    EXPECT_EQ(s.transcript().text, said(10).substr(1));
}

TEST_F(Streams, WithoutWordTimesSegmentsHaveToAgree) {
    with_words_ = false;
    Stream s = stream();
    run(s, 30, 1);
    finish(s);
    EXPECT_EQ(committed_text(), said(60));
}

TEST_F(Streams, NoSoundGivesNoText) {
    Stream s = stream();
    EXPECT_FALSE(s.is_due());
    EXPECT_TRUE(s.finish()->committed.empty());
    EXPECT_EQ(n_decodings_, 0);
}

TEST(Captions, OnlyTheLastLineIsDrawnOver) {
    cli::Captions captions(20);
    EXPECT_EQ(captions.show({}, " maybe"), "\r\033[K\033[2mmaybe\033[0m");
    EXPECT_EQ(captions.show(words({"Hello,", "dear"}), " listen"),
              "\r\033[KHello, dear\033[2m listen\033[0m");
    EXPECT_EQ(captions.show(words({"listener"}), " who goes on and on"),
              "\r\033[KHello, dear\nlistener\033[2m who goes o\033[0m");
    EXPECT_EQ(captions.show(words({"\u4eca\u5929\u5929\u6c14"}), ""),
              "\r\033[Klistener \u4eca\u5929\u5929\u6c14");
    EXPECT_EQ(captions.close(), "\r\033[Klistener \u4eca\u5929\u5929\u6c14\n");
    EXPECT_EQ(captions.close(), "\r\033[K");
}

TEST(Captions, NothingInTheTextMovesTheCursor) {
    cli::Captions captions(80);
    const std::string shown = captions.show(words({"a\033[2Jb\n"}), "c\rd");
    EXPECT_EQ(std::count(shown.begin(), shown.end(), '\033'), 3);  // ours
    EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'), 0);
    EXPECT_EQ(std::count(shown.begin(), shown.end(), '\r'), 1);
}

}  // namespace
}  // namespace transcribe
