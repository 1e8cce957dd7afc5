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
    Ladder ladder(options, 30);
    EXPECT_EQ(ladder.next(), 0.0f);
    ladder.add({text(-0.3f, 1.5f)});
    EXPECT_FALSE(ladder.next());
    EXPECT_FALSE(ladder.silent());
}

TEST(Ladder, GoesUpToOne) {
    Options options;
    Ladder ladder(options, 30);
    std::vector<float> temperatures;
    while (auto t = ladder.next()) {
        temperatures.push_back(*t);
        ladder.add({text(-0.3f, 5.0f)});
    }
    ASSERT_EQ(temperatures.size(), 6u);
    EXPECT_NEAR(temperatures[5], 1.0f, 1e-6);
    options.temperature_increment = 0;
    Ladder one(options, 30);
    one.add({text(-0.3f, 5.0f)});
    EXPECT_FALSE(one.next());
}

TEST(Ladder, ATextThatGoesOnBehindTheEndIsSilenceSooner) {
    Options options;
    WindowText over = text(-0.3f, 1.0f, 0.5f);
    Ladder heard(options, 5);
    heard.add({over});
    EXPECT_FALSE(heard.silent());
    over.overruns = true;
    Ladder silence(options, 5);
    silence.add({over});
    EXPECT_TRUE(silence.silent());
    over.no_speech_prob = 0.1f;
    Ladder speech(options, 5);
    speech.add({over});
    EXPECT_FALSE(speech.silent());
}

TEST(Ladder, SilenceIsWhereItIsLikelyAndTheFirstTextIsNot) {
    Options options;
    Ladder silence(options, 30);
    silence.add({text(-1.5f, 1.0f, 0.7f)});
    EXPECT_FALSE(silence.next());
    EXPECT_TRUE(silence.silent());
    WindowText repeated = text(-0.3f, 5.0f, 0.85f);
    Ladder chorus(options, 30);
    chorus.add({repeated});
    EXPECT_FALSE(chorus.silent());
    repeated.looping = true;
    Ladder loop(options, 30);
    loop.add({repeated});
    EXPECT_TRUE(loop.silent());
    Ladder speech(options, 30);
    speech.add({text(-0.3f, 5.0f, 0.2f)});
    speech.add({text(-1.5f, 1.0f, 0.2f)});
    EXPECT_FALSE(speech.silent());
    options.temperature_increment = 0;
    Ladder as_the_reference(options, 30);
    as_the_reference.add({text(-0.3f, 5.0f, 0.7f)});
    EXPECT_FALSE(as_the_reference.silent());
}

TEST(Ladder, LessThanASecondIsSilenceWhereNoTryIsGood) {
    Options options;
    for (double window_s : {0.3, 1.5}) {
        Ladder ladder(options, window_s);
        ladder.add({text(-1.5f, 1.0f, 0.4f)});
        EXPECT_FALSE(ladder.silent()) << "another try may be good";
        while (ladder.next()) ladder.add({text(-1.5f, 1.0f, 0.4f)});
        EXPECT_EQ(ladder.silent(), window_s < 1);
    }
}

TEST(Ladder, LessThanASecondIsSilenceWhereItIsLikely) {
    Options options;
    for (double window_s : {0.3, 1.5}) {
        Ladder ladder(options, window_s);
        ladder.add({text(-0.5f, 1.1f, 0.8f)});
        EXPECT_EQ(ladder.silent(), window_s < 1);
        EXPECT_FALSE(ladder.next());
    }
}

TEST(Ladder, OfBadTextsTheLikeliestThatIsNoLoop) {
    Options options;
    Ladder ladder(options, 30);
    ladder.add({text(-0.1f, 9.0f)});
    ladder.add({text(-2.0f, 1.0f)});
    ladder.add({text(-1.2f, 1.2f)});
    ladder.add({text(-1.4f, 1.0f)});
    EXPECT_EQ(ladder.best().avg_logprob, -1.2f);
    ladder.add({text(-0.9f, 1.0f)});
    EXPECT_EQ(ladder.best().avg_logprob, -0.9f);
}

TEST(Ladder, AChorusIsBetterThanATextOutOfThinAir) {
    Options options;
    Ladder ladder(options, 30);
    ladder.add({text(-0.3f, 2.6f)});
    ladder.add({text(-1.6f, 0.9f)});
    EXPECT_EQ(ladder.best().avg_logprob, -0.3f);
}

TEST(Ladder, OfDrawnTextsTheLikeliestThatIsNoLoop) {
    Options options;
    Ladder ladder(options, 30);
    WindowText loop = text(-0.05f, 1.0f);
    loop.looping = true;
    ladder.add({text(-0.1f, 9.0f), text(-0.5f, 1.0f), text(-0.7f, 1.0f), loop});
    EXPECT_FALSE(ladder.next());
    EXPECT_EQ(ladder.best().avg_logprob, -0.5f);
}

}  // namespace
}  // namespace transcribe::whisper
