// Which tokens Whisper may say next: by hand, and against the reference's filters on random scores
// (data/whisper_rules.json, made by tools/make_whisper_rules_golden.py). And the table of
// languages.
#include "families/whisper/rules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "asr/languages.h"
#include "text/byte_alphabet.h"

namespace transcribe {
namespace {

using Ids = std::vector<int>;

constexpr float inf = std::numeric_limits<float>::infinity();

// 0-9 text, 10 end of text, 11-16 control, 17 no timestamps, 18-29 timestamps.
SpecialTokens small_special() {
    SpecialTokens s;
    s.eot = 10, s.sot = 11, s.translate = 12, s.transcribe = 13;
    s.sot_lm = 14, s.sot_prev = 15, s.no_speech = 16, s.no_timestamps = 17;
    s.timestamp_begin = 18, s.n_vocab = 30;
    return s;
}

Ids allowed(const LogitRule& rules, const Ids& sampled, std::vector<float> logits) {
    rules.apply(sampled, logits);
    Ids ids;
    for (size_t i = 0; i < logits.size(); i++) {
        if (logits[i] > -inf) ids.push_back(static_cast<int>(i));
    }
    return ids;
}

// Text so probable that the sum over timestamps never wins.
std::vector<float> text_wins() {
    std::vector<float> logits(30, -5.0f);
    std::fill_n(logits.begin(), 11, 5.0f);
    return logits;
}

WhisperRules small_rules(bool timestamps = true) {
    return {small_special(),
            {.suppress = {4, -1, 999},
             .suppress_at_start = {0, 10},
             .timestamps = timestamps,
             .max_initial_timestamp = 3}};
}

TEST(WhisperRules, InTheLastWindowWhatBeginsIsSaid) {
    const WhisperRules rules = small_rules();
    const Ids opened = {18, 1, 20, 20};
    EXPECT_NE(allowed(rules, opened, text_wins()).back(), 9);
    EXPECT_EQ(allowed(LastWindowRules(rules, small_special(), 160), opened, text_wins()).back(), 9);
    // What begins within its last 1.5 s may be nothing.
    EXPECT_EQ(allowed(LastWindowRules(rules, small_special(), 150), opened, text_wins()),
              allowed(rules, opened, text_wins()));
}

TEST(WhisperRules, StartsWithAnEarlyTimestamp) {
    EXPECT_EQ(allowed(small_rules(), {}, text_wins()), (Ids{18, 19, 20, 21}));
}

TEST(WhisperRules, TextFollowsTheTimestampThatOpens) {
    EXPECT_EQ(allowed(small_rules(), {19}, text_wins()), (Ids{0, 1, 2, 3, 5, 6, 7, 8, 9, 10}));
    EXPECT_EQ(allowed(small_rules(), {18, 1, 20, 20}, text_wins()),
              (Ids{0, 1, 2, 3, 5, 6, 7, 8, 9, 10}));
}

TEST(WhisperRules, TimeMovesOnInsideOfASegment) {
    EXPECT_EQ(allowed(small_rules(), {26, 1}, text_wins()),
              (Ids{0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 27, 28, 29}));
}

TEST(WhisperRules, AfterAClosedSegmentOnlyATimestampOrTheEnd) {
    EXPECT_EQ(allowed(small_rules(), {18, 1, 27}, text_wins()), (Ids{10, 27, 28, 29}));
}

TEST(WhisperRules, ManyLikelyTimestampsBeatTheBestText) {
    std::vector<float> logits(30, 0.0f);
    logits[2] = 1.5f;  // log(11) = 2.4 for the timestamps left
    EXPECT_EQ(allowed(small_rules(), {18, 1}, logits),
              (Ids{19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29}));
    logits[2] = 2.5f;
    EXPECT_EQ(allowed(small_rules(), {18, 1}, logits).front(), 0);
    logits[4] = 99.0f;  // suppressed, so it does not count
    logits[2] = 1.5f;
    EXPECT_EQ(allowed(small_rules(), {18, 1}, logits).front(), 19);
}

TEST(WhisperRules, WithoutTimestampsOnlyTheLists) {
    Ids text = {1, 2, 3, 5, 6, 7, 8, 9, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29};
    EXPECT_EQ(allowed(small_rules(false), {}, text_wins()), text);
    text.insert(text.begin(), 0);
    text.insert(text.begin() + 9, 10);
    EXPECT_EQ(allowed(small_rules(false), {20, 20}, text_wins()), text);
}

TEST(WhisperRules, EqualsTheReference) {
    auto data = nlohmann::json::parse(std::ifstream(TESTS_DIR "/unit/data/whisper_rules.json"));
    SpecialTokens special;
    special.eot = data["eot"], special.no_timestamps = data["no_timestamps"];
    special.timestamp_begin = data["timestamp_begin"], special.n_vocab = data["n_vocab"];
    ASSERT_TRUE(are_in_order(special));
    ASSERT_EQ(data["cases"].size(), 300u);
    for (const auto& entry : data["cases"]) {
        WhisperRules rules(special, {.suppress = data["suppress"],
                                     .suppress_at_start = data["suppress_at_start"],
                                     .timestamps = entry[0] == 1,
                                     .max_initial_timestamp = data["max_initial"]});
        auto logits = entry[2].get<std::vector<float>>();
        for (float& x : logits) x /= 4;
        EXPECT_EQ(allowed(rules, entry[1], logits), entry[3].get<Ids>()) << entry;
    }
}

TEST(WhisperRules, OrderOfIds) {
    EXPECT_TRUE(are_in_order(small_special()));
    EXPECT_FALSE(are_in_order({}));
    SpecialTokens s = small_special();
    s.n_vocab = s.timestamp_begin;
    EXPECT_FALSE(are_in_order(s));
}

TEST(WhisperRules, NonSpeechTokens) {
    Vocabulary v{"gpt2", "gpt2", {}, {}, {}};
    for (int byte = 0; byte < 256; byte++)
        v.tokens.push_back(piece_of_bytes(std::string(1, static_cast<char>(byte))));
    for (const char* text :
         {" -", " '", "((", " (", "--", "\xE2\x99", " \xE2\x99", "\xE2\x99\xAA"}) {
        v.tokens.push_back(piece_of_bytes(text));
    }
    auto tokenizer = Tokenizer::make(std::move(v));
    ASSERT_TRUE(tokenizer);
    Ids expected;
    for (char c : std::string("\"#()*+/:;<=>@[\\]^_`{|}~")) expected.push_back(c);
    for (int id = 256; id < 264; id++) expected.push_back(id);
    EXPECT_EQ(non_speech_tokens(**tokenizer), expected);
}

TEST(Languages, Table) {
    ASSERT_EQ(languages().size(), 100u);
    EXPECT_STREQ(languages()[0].code, "en");
    EXPECT_STREQ(languages()[2].name, "german");
    EXPECT_STREQ(languages()[98].code, "su");
    EXPECT_STREQ(languages()[99].code, "yue");
    for (const Language& language : languages()) {
        EXPECT_EQ(language_code(language.code), language.code);
        EXPECT_EQ(language_code(language.name), language.code);
        EXPECT_EQ(language_name(language.code), language.name);
    }
}

TEST(Languages, WhatUsersType) {
    const char* cases[][2] = {{"en", "en"},
                              {"EN", "en"},
                              {"English", "en"},
                              {" en-US ", "en"},
                              {"pt_BR", "pt"},
                              {"zh-Hans-CN", "zh"},
                              {"Haitian Creole", "ht"},
                              {"castilian", "es"},
                              {"Burmese", "my"},
                              {"mandarin", "zh"},
                              {"haw", "haw"},
                              {"", ""},
                              {"-", ""},
                              {"klingon", ""},
                              {"e", ""},
                              {"eng", ""},
                              {"auto", ""}};
    for (auto [user, code] : cases) EXPECT_EQ(language_code(user), code) << user;
    EXPECT_EQ(language_name("xx"), "");
}

}  // namespace
}  // namespace transcribe
