// decode/align: against the reference's timing.py (data/align.json, made by
// tools/make_whisper_words_golden.py), and the properties that hold of any scores.
#include "decode/align.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

namespace transcribe {
namespace {

using Row = std::vector<float>;

const nlohmann::json& golden() {
    static const auto data =
        nlohmann::json::parse(std::ifstream(TESTS_DIR "/unit/data/align.json"));
    return data;
}

Row filtered(const Row& row) {
    Row out(row.size());
    median_of_7(row, out);
    return out;
}

TEST(Align, MedianEqualsTheReference) {
    ASSERT_EQ(golden()["median_cases"].size(), 40u);
    for (const auto& entry : golden()["median_cases"]) {
        EXPECT_EQ(filtered(entry[0].get<Row>()), entry[1].get<Row>()) << entry;
    }
}

// A network of exchanges that is right for all rows of zeros and ones is right for all rows.
TEST(Align, MedianOfAllRowsOfZerosAndOnes) {
    for (int bits = 0; bits < 128; bits++) {
        Row row(7);
        for (size_t i = 0; i < 7; i++) row[i] = static_cast<float>(bits >> i & 1);
        Row sorted = row;
        std::sort(sorted.begin(), sorted.end());
        EXPECT_EQ(filtered(row)[3], sorted[3]) << bits;
    }
}

TEST(Align, PathEqualsTheReferenceWhereCostsAreEqual) {
    ASSERT_EQ(golden()["path_cases"].size(), 60u);
    for (const auto& entry : golden()["path_cases"]) {
        Row cost;
        for (const auto& row : entry[0]) cost.insert(cost.end(), row.begin(), row.end());
        auto n_tokens = static_cast<int>(entry[0].size());
        EXPECT_EQ(first_frames(cost, n_tokens), entry[1].get<std::vector<int>>()) << entry;
    }
}

TEST(Align, TokensEqualTheReference) {
    ASSERT_EQ(golden()["aligned_cases"].size(), 40u);
    for (const auto& entry : golden()["aligned_cases"]) {
        const auto& heads = entry[0];
        auto n_tokens = static_cast<int>(heads[0].size());
        int n_frames = entry[1];
        Row scores;
        for (const auto& head : heads) {
            for (const auto& row : head) {
                for (int i = 0; i < n_frames; i++) scores.push_back(row[static_cast<size_t>(i)]);
            }
        }
        for (float& x : scores) x /= 8;
        ScoreShape shape{n_frames, n_tokens, static_cast<int>(heads.size())};
        EXPECT_EQ(align_tokens(scores, shape, {3, n_tokens - 4}), entry[2].get<std::vector<int>>())
            << entry;
    }
}

TEST(Align, TimeNeverGoesBackAndNothingIsNaN) {
    std::mt19937 random(3);
    std::uniform_real_distribution<float> any(-40, 40);
    for (int i = 0; i < 300; i++) {
        ScoreShape shape{1 + static_cast<int>(random() % 40), 1 + static_cast<int>(random() % 20),
                         2};
        Row scores(static_cast<size_t>(shape.n_frames * shape.n_tokens * shape.n_heads));
        bool flat = i % 5 == 0;  // all tokens alike: no spread to divide by
        for (float& x : scores) x = flat ? 1.0f : any(random);
        for (float x : attention_map(scores, shape)) ASSERT_TRUE(std::isfinite(x));
        auto frames = align_tokens(scores, shape, {0, shape.n_tokens});
        ASSERT_EQ(frames.size(), static_cast<size_t>(shape.n_tokens));
        ASSERT_EQ(frames[0], 0);
        ASSERT_TRUE(std::is_sorted(frames.begin(), frames.end()));
        ASSERT_LT(frames.back(), shape.n_frames);
    }
}

}  // namespace
}  // namespace transcribe
