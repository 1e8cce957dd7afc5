// Which try at a window is taken, and when a window is silent.
#include <gtest/gtest.h>

#include "families/whisper/ladder.h"

namespace transcribe::whisper {
namespace {

WindowText text(float avg_logprob, float ratio, float no_speech = 0) {
    WindowText t;
    t.avg_logprob = avg_logprob;
    t.compression_ratio = ratio;
    t.no_speech_prob = no_speech;
    return t;
}

TEST(Ladder, AGoodTextEndsIt) {
    Options options;
    Ladder ladder(options);
    EXPECT_EQ(ladder.next(), 0.0f);
    ladder.add({text(-0.3f, 1.5f)});
    EXPECT_FALSE(ladder.next());
    EXPECT_FALSE(ladder.silent());
}

TEST(Ladder, GoesUpToOne) {
    Options options;
    Ladder ladder(options);
    std::vector<float> temperatures;
    while (auto t = ladder.next()) {
        temperatures.push_back(*t);
        ladder.add({text(-0.3f, 5.0f)});
    }
    ASSERT_EQ(temperatures.size(), 6u);
    EXPECT_NEAR(temperatures[5], 1.0f, 1e-6);
    options.temperature_increment = 0;
    Ladder one(options);
    one.add({text(-0.3f, 5.0f)});
    EXPECT_FALSE(one.next());
}

TEST(Ladder, OnlyTheFirstTryMaySaySilence) {
    Options options;
    Ladder silence(options);
    silence.add({text(-1.5f, 1.0f, 0.7f)});
    EXPECT_FALSE(silence.next());
    EXPECT_TRUE(silence.silent());
    Ladder loop(options);
    loop.add({text(-0.3f, 5.0f, 0.7f)});
    EXPECT_TRUE(loop.next());
    loop.add({text(-1.5f, 1.0f, 0.7f)});
    EXPECT_FALSE(loop.silent());
}

TEST(Ladder, OfBadTextsTheLikeliestThatIsNoLoop) {
    Options options;
    Ladder ladder(options);
    ladder.add({text(-0.1f, 9.0f)});
    ladder.add({text(-2.0f, 1.0f)});
    ladder.add({text(-1.2f, 1.2f)});
    ladder.add({text(-1.4f, 1.0f)});
    EXPECT_EQ(ladder.best().avg_logprob, -1.2f);
    ladder.add({text(-0.9f, 1.0f)});
    EXPECT_EQ(ladder.best().avg_logprob, -0.9f);
}

TEST(Ladder, OfDrawnTextsTheLikeliestThatIsNoLoop) {
    Options options;
    Ladder ladder(options);
    WindowText loop = text(-0.05f, 1.0f);
    loop.looping = true;
    ladder.add({text(-0.1f, 9.0f), text(-0.5f, 1.0f), text(-0.7f, 1.0f), loop});
    EXPECT_FALSE(ladder.next());
    EXPECT_EQ(ladder.best().avg_logprob, -0.5f);
}

}  // namespace
}  // namespace transcribe::whisper
