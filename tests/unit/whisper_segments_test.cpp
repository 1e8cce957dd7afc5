// How a window's tokens are cut into segments: by hand, and against the reference's transcribe()
// (data/whisper_segments.json, made by tools/make_whisper_rules_golden.py).
#include "families/whisper/segments.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

namespace transcribe {

static bool operator==(const Slice& a, const Slice& b) {
    return a.first == b.first && a.last == b.last && a.t0_frames == b.t0_frames &&
           a.t1_frames == b.t1_frames;
}

namespace {

using Ids = std::vector<int>;
using Slices = std::vector<Slice>;

constexpr int T = 100;  // <|0.00|>

TEST(WhisperSegments, PairsCutAndTheUnfinishedRestIsDecodedAgain) {
    Cut cut = cut_window(Ids{T, 1, 2, T + 50, T + 60, 3, T + 100, T + 100, 4}, T, {1000, 3000});
    EXPECT_EQ(cut.slices, (Slices{{0, 4, 1000, 1100}, {4, 7, 1120, 1200}}));
    EXPECT_EQ(cut.advance_frames, 200);
}

TEST(WhisperSegments, ASingleTimestampAtTheEndConsumesTheWindow) {
    Cut cut = cut_window(Ids{T, 1, T + 50, T + 50, 2, T + 90}, T, {0, 2500});
    EXPECT_EQ(cut.slices, (Slices{{0, 3, 0, 100}, {3, 6, 100, 180}}));
    EXPECT_EQ(cut.advance_frames, 2500);
    EXPECT_TRUE(cut.ends_in_single_timestamp);
}

TEST(WhisperSegments, TheLastWindowOfAPieceKeepsWhatHasNoEnd) {
    Cut cut = cut_window(Ids{T, 1, T + 50, T + 50, 2, 3}, T, {1000, 2500, true});
    EXPECT_EQ(cut.slices, (Slices{{0, 3, 1000, 1100}, {3, 6, 1100, 3500}}));
    EXPECT_EQ(cut.advance_frames, 2500);
    cut = cut_window(Ids{T, 1, T + 50, T + 50}, T, {1000, 2500, true});
    EXPECT_EQ(cut.advance_frames, 100) << "without text there may be more to hear";
}

TEST(WhisperSegments, WithoutPairsOneSegment) {
    EXPECT_EQ(cut_window(Ids{T + 5, 1, T + 50}, T, {200, 3000}).slices, (Slices{{0, 3, 200, 300}}));
    EXPECT_EQ(cut_window(Ids{T, 1, 2}, T, {200, 700}).slices, (Slices{{0, 3, 200, 900}}));
    EXPECT_EQ(cut_window(Ids{1, 2}, T, {0, 700}).slices, (Slices{{0, 2, 0, 700}}));
    EXPECT_EQ(cut_window(Ids{}, T, {0, 700}).slices, (Slices{{0, 0, 0, 700}}));
    EXPECT_EQ(cut_window(Ids{}, T, {0, 700}).advance_frames, 700);
}

TEST(WhisperSegments, EmptySegments) {
    EXPECT_TRUE(has_speech(10, 20, " hello"));
    EXPECT_FALSE(has_speech(10, 10, " hello"));
    EXPECT_FALSE(has_speech(10, 20, " \u3000"));
}

TEST(WhisperSegments, WhereTheReferenceFails) {
    Cut cut = cut_window(Ids{T, T, 1}, T, {0, 3000});  // it would never move
    EXPECT_EQ(cut.advance_frames, 3000);
    cut = cut_window(Ids{7, T + 10, T + 20}, T, {500, 3000});  // it would take 7 for a time
    EXPECT_EQ(cut.slices, (Slices{{0, 2, 500, 520}}));
    EXPECT_EQ(cut_window(Ids{}, T, {0, 0}).advance_frames, 1);
}

TEST(WhisperSegments, AnyTokensMoveOnAndStayInRange) {
    std::mt19937 random(4);
    for (int i = 0; i < 5000; i++) {
        Ids tokens(random() % 12);
        for (int& token : tokens) token = static_cast<int>(T - 2 + random() % 5);
        Cut cut = cut_window(tokens, T, {0, 3000});
        ASSERT_GE(cut.advance_frames, 1);
        size_t at = 0;
        for (const Slice& slice : cut.slices) {
            ASSERT_EQ(slice.first, at);
            ASSERT_LE(slice.last, tokens.size());
            at = slice.last;
        }
    }
}

TEST(WhisperSegments, EqualTheReference) {
    auto data = nlohmann::json::parse(std::ifstream(TESTS_DIR "/unit/data/whisper_segments.json"));
    std::map<int, std::string> words;
    for (const auto& word : data["words"]) words[word[0]] = word[1];
    ASSERT_EQ(data["cases"].size(), 300u);
    for (const auto& entry : data["cases"]) {
        Ids tokens = entry[0];
        i64 seek = entry[1], n_content = entry[2];
        Cut cut = cut_window(tokens, data["timestamp_begin"],
                             {seek, std::min<i64>(3000, n_content - seek)});
        auto segments = nlohmann::json::array();
        Ids context;
        for (const Slice& slice : cut.slices) {
            Ids kept(tokens.begin() + static_cast<long>(slice.first),
                     tokens.begin() + static_cast<long>(slice.last));
            std::string text;
            for (int id : kept) text += words[id];
            if (!has_speech(slice.t0_frames, slice.t1_frames, text)) kept.clear();
            context.insert(context.end(), kept.begin(), kept.end());
            segments.push_back({slice.t0_frames, slice.t1_frames, kept});
        }
        EXPECT_EQ(segments, entry[3]) << entry;
        Ids expected_context = entry[4].is_null() ? context : entry[4].get<Ids>();
        EXPECT_EQ(context, expected_context) << entry;
        EXPECT_EQ(std::min(cut.advance_frames, n_content - seek), entry[5].get<i64>()) << entry;
    }
}

}  // namespace
}  // namespace transcribe
