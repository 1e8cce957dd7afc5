// Long pauses cut out of a recording, and the way back to its times; pieces of it.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "engine/pieces.h"
#include "engine/speech.h"
#include "engine/timeline.h"

namespace transcribe {
namespace {

using Spans = std::vector<TimeSpan>;
using Pairs = std::vector<std::pair<i64, i64>>;

Pairs pairs(const Spans& spans) {
    Pairs out;
    for (const TimeSpan& span : spans) out.emplace_back(span.t0_ms, span.t1_ms);
    return out;
}

Word word(const char* text, i64 t0_ms, i64 t1_ms) {
    return {.text = text, .t0_ms = t0_ms, .t1_ms = t1_ms, .probability = 1};
}

Segment segment(i64 t0_ms, i64 t1_ms, std::vector<Word> words = {}) {
    Segment out;
    out.t0_ms = t0_ms;
    out.t1_ms = t1_ms;
    out.tokens = {1, 2, 3};
    out.text = " whole";
    out.words = std::move(words);
    return out;
}

// Regions of 0.1 to 8 s with pauses of 0.1 to 20 s.
Spans random_regions(std::mt19937& random, i64& duration_ms) {
    Spans regions;
    i64 at_ms = 0;
    for (int n = std::uniform_int_distribution(1, 12)(random); n > 0; n--) {
        at_ms += std::uniform_int_distribution(100, 20000)(random);
        i64 length_ms = std::uniform_int_distribution(100, 8000)(random);
        regions.push_back({at_ms, at_ms + length_ms});
        at_ms += length_ms;
    }
    duration_ms = at_ms + std::uniform_int_distribution(0, 5000)(random);
    return regions;
}

// Sample i has the value i, up to 2^24.
std::vector<float> ramp(i64 duration_ms) {
    std::vector<float> samples(static_cast<size_t>(duration_ms * 16));
    for (size_t i = 0; i < samples.size(); i++) samples[i] = static_cast<float>(i);
    return samples;
}

std::vector<float> read_all(AudioSource& source, size_t n_at_once) {
    std::vector<float> all, block(n_at_once);
    for (;;) {
        size_t n = *source.read(block);
        all.insert(all.end(), block.begin(), block.begin() + static_cast<i64>(n));
        if (n < n_at_once) return all;
    }
}

TEST(KeptParts, LongPausesAreCutAndShortOnesStay) {
    EXPECT_EQ(pairs(kept_parts({}, 5000)), Pairs{});
    Spans regions{{2000, 4000}, {5500, 6000}, {9000, 9500}};
    EXPECT_EQ(pairs(kept_parts(regions, 20000)), (Pairs{{1700, 6300}, {8700, 9800}}));
    // What is left at an end is kept as well where it is short.
    Spans one{{1200, 2000}};
    EXPECT_EQ(pairs(kept_parts(one, 3250)), (Pairs{{0, 3250}}));
}

TEST(KeptParts, ClipsLeaveWhatBothHold) {
    Spans kept{{0, 1000}, {2000, 4000}, {6000, 7000}};
    Spans clips{{500, 2500}, {2500, 3000}, {5000, 5500}, {6500, std::numeric_limits<i64>::max()}};
    Pairs want{{500, 1000}, {2000, 2500}, {2500, 3000}, {6500, 7000}};
    EXPECT_EQ(pairs(common_parts(kept, clips)), want);
    EXPECT_EQ(pairs(common_parts(kept, Spans{{1000, 2000}})), Pairs{});
}

TEST(Timeline, AJoinIsTwoTimes) {
    Timeline timeline({{1000, 3000}, {10000, 11000}, {50000, 52000}});
    EXPECT_EQ(timeline.length_ms(), 5000);
    EXPECT_EQ(timeline.start_ms(0), 1000);
    EXPECT_EQ(timeline.end_ms(2000), 3000);
    EXPECT_EQ(timeline.start_ms(2000), 10000);
    EXPECT_EQ(timeline.start_ms(1999), 2999);
    EXPECT_EQ(timeline.end_ms(2001), 10001);
    EXPECT_EQ(timeline.end_ms(5000), 52000);
    EXPECT_EQ(timeline.start_ms(9999), 52000) << "nothing past the end";
    EXPECT_EQ(timeline.heard_ms(1500), 500);
    EXPECT_EQ(timeline.heard_ms(7000), 2000) << "a time within a pause is its join";
    EXPECT_EQ(timeline.heard_ms(99999), 5000);
}

TEST(Timeline, GoesThereAndBackForAnyRegions) {
    std::mt19937 random(1);
    for (int round = 0; round < 200; round++) {
        i64 duration_ms = 0;
        Spans regions = random_regions(random, duration_ms);
        Timeline timeline(kept_parts(regions, duration_ms));
        i64 last_start = -1, last_end = -1;
        for (i64 t = 0; t <= timeline.length_ms(); t += 37) {
            i64 start = timeline.start_ms(t), end = timeline.end_ms(t);
            EXPECT_EQ(timeline.heard_ms(start), t);
            EXPECT_EQ(timeline.heard_ms(end), t);
            EXPECT_LE(end, start);
            EXPECT_LT(last_start, start);
            EXPECT_LT(last_end, end);
            EXPECT_LE(start, duration_ms);
            last_start = start, last_end = end;
        }
        // Every region is heard, all of it.
        for (const TimeSpan& region : regions) {
            i64 heard = timeline.heard_ms(region.t1_ms) - timeline.heard_ms(region.t0_ms);
            EXPECT_EQ(heard, region.t1_ms - region.t0_ms);
        }
    }
}

TEST(Timeline, AWholeRecordingIsItself) {
    Timeline timeline({{0, 12345}});
    for (i64 t : {0, 1, 5000, 12345}) {
        EXPECT_EQ(timeline.start_ms(t), t);
        EXPECT_EQ(timeline.end_ms(t), t);
    }
}

TEST(Timeline, ASegmentWithWordsIsSplitAtThePause) {
    Timeline timeline({{1000, 3000}, {10000, 12000}});
    Segment across = segment(500, 3500,
                             {word(" one", 500, 1000), word(" two", 1000, 2000),
                              word(" three", 2000, 2400), word(" four", 2400, 3400)});
    auto parts = timeline.restore(across);
    ASSERT_EQ(parts.size(), 2u);
    EXPECT_EQ(parts[0].text, " one two");
    EXPECT_EQ(parts[1].text, " three four");
    EXPECT_EQ(std::pair(parts[0].t0_ms, parts[0].t1_ms), std::pair(i64{1500}, i64{3000}));
    EXPECT_EQ(std::pair(parts[1].t0_ms, parts[1].t1_ms), std::pair(i64{10000}, i64{11500}));
    EXPECT_EQ(parts[0].words[1].t1_ms, 3000);
    EXPECT_EQ(parts[1].words[0].t0_ms, 10000);
    EXPECT_EQ(parts[0].tokens.size(), 3u);
    EXPECT_TRUE(parts[1].tokens.empty());
}

TEST(Timeline, ASegmentWithoutWordsSwallowsNoPause) {
    Timeline timeline({{1000, 3000}, {10000, 12000}});
    auto early = timeline.restore(segment(500, 2300)), late = timeline.restore(segment(1700, 3000));
    ASSERT_EQ(early.size(), 1u);
    ASSERT_EQ(late.size(), 1u);
    EXPECT_EQ(std::pair(early[0].t0_ms, early[0].t1_ms), std::pair(i64{1500}, i64{3000}));
    EXPECT_EQ(std::pair(late[0].t0_ms, late[0].t1_ms), std::pair(i64{10000}, i64{11000}));
    EXPECT_EQ(early[0].text, " whole");
}

TEST(Timeline, RestoredSegmentsAreInOrderAndNothingIsLost) {
    std::mt19937 random(2);
    for (int round = 0; round < 200; round++) {
        i64 duration_ms = 0;
        Spans regions = random_regions(random, duration_ms);
        Timeline timeline(kept_parts(regions, duration_ms));
        i64 at_ms = 0, last_ms = 0;
        while (at_ms < timeline.length_ms()) {
            std::vector<Word> words;
            const i64 from_ms = at_ms;
            for (int i = 0; i < 8; i++) {
                i64 end_ms = at_ms + std::uniform_int_distribution(0, 900)(random);
                words.push_back(word(" w", at_ms, end_ms));
                at_ms = end_ms;
            }
            size_t n_words = 0;
            for (const Segment& part : timeline.restore(segment(from_ms, at_ms, words))) {
                EXPECT_LE(last_ms, part.t0_ms);
                EXPECT_LE(part.t0_ms, part.t1_ms);
                EXPECT_LE(part.t1_ms, duration_ms);
                for (const Word& each : part.words) {
                    EXPECT_LE(last_ms, each.t0_ms);
                    EXPECT_LE(each.t0_ms, each.t1_ms);
                    EXPECT_LE(each.t1_ms, part.t1_ms);
                    last_ms = each.t1_ms;
                }
                n_words += part.words.size();
                last_ms = part.t1_ms;
            }
            EXPECT_EQ(n_words, 8u);
        }
    }
}

TEST(SpeechSource, GivesThePartsAndNothingElse) {
    std::vector<float> samples = ramp(1000);
    MemorySource whole(samples);
    SpeechSource speech(whole, {{10, 20}, {500, 501}, {900, 1100}});
    for (size_t n_at_once : {1, 7, 160, 5000}) {
        std::vector<float> heard = read_all(speech, n_at_once);
        ASSERT_EQ(heard.size(), (10u + 1 + 100) * 16);
        EXPECT_EQ(heard[0], 160);
        EXPECT_EQ(heard[159], 319);
        EXPECT_EQ(heard[160], 8000);
        EXPECT_EQ(heard[176], 14400);
        EXPECT_EQ(heard.back(), 15999) << "the recording ends before the last part does";
        ASSERT_TRUE(speech.rewind());
    }
}

TEST(SpeechSource, HasNothingWhereThereIsNoPartOrNoRecording) {
    std::vector<float> samples = ramp(10);
    MemorySource whole(samples);
    SpeechSource silent(whole, {});
    EXPECT_TRUE(read_all(silent, 100).empty());
    SpeechSource late(whole, {{500, 600}, {700, 800}});
    EXPECT_TRUE(read_all(late, 100).empty());
}

// One after another, none too long, all of it.
void expect_covers(const Spans& pieces, i64 length_ms, i64 ms_max) {
    i64 at_ms = 0;
    for (const TimeSpan& piece : pieces) {
        EXPECT_EQ(piece.t0_ms, at_ms);
        EXPECT_GT(piece.t1_ms, piece.t0_ms);
        EXPECT_LE(piece.t1_ms - piece.t0_ms, ms_max);
        at_ms = piece.t1_ms;
    }
    EXPECT_EQ(at_ms, length_ms);
}

SpeechTrack track_of(const Spans& regions, i64 duration_ms) {
    SpeechTrack track{.probabilities = {}, .chunk_ms = 32, .n_samples = 16 * duration_ms};
    for (i64 t = 0; t < duration_ms; t += 32) {
        bool speech = false;
        for (const TimeSpan& r : regions) speech = speech || (t >= r.t0_ms && t < r.t1_ms);
        track.probabilities.push_back(speech ? 0.9f : 0.1f);
    }
    return track;
}

TEST(CutPieces, AreCutInPausesAsLateAsPossible) {
    Spans regions{{0, 8000}, {9000, 18000}, {18500, 25000}, {40000, 60000}};
    Timeline timeline(kept_parts(regions, 60000));
    auto pieces = cut_pieces(timeline, regions, track_of(regions, 60000));
    // The speech's clock: 25 s and a margin, then from 39.7 s on.
    EXPECT_EQ(pairs(pieces), (Pairs{{0, 25300}, {25300, 45600}}));
}

TEST(CutPieces, SpeechWithoutAPauseIsCutWhereItIsLeastLikely) {
    Spans regions{{0, 70000}};
    SpeechTrack track = track_of(regions, 70000);
    track.probabilities[26000 / 32] = 0.6f;
    track.probabilities[5000 / 32] = 0.2f;  // too early
    auto pieces = cut_pieces(Timeline(regions), regions, track);
    expect_covers(pieces, 70000, 30000);
    EXPECT_NEAR(static_cast<double>(pieces[0].t1_ms), 26000, 32);
}

TEST(CutPieces, CoverAnySpeech) {
    std::mt19937 random(3);
    for (int round = 0; round < 200; round++) {
        i64 duration_ms = 0;
        Spans regions = random_regions(random, duration_ms);
        Timeline timeline(kept_parts(regions, duration_ms));
        auto pieces = cut_pieces(timeline, regions, track_of(regions, duration_ms), 10000);
        expect_covers(pieces, timeline.length_ms(), 10000);
    }
}

std::vector<float> loud(i64 duration_ms) {
    std::vector<float> samples(static_cast<size_t>(duration_ms * 16));
    for (size_t i = 0; i < samples.size(); i++) samples[i] = i % 2 == 0 ? 0.5f : -0.5f;
    return samples;
}

TEST(CutPieces, WithoutADetectorTheQuietestPlaceIsCut) {
    std::vector<float> samples = loud(47000);
    samples.resize(samples.size() + 5);
    std::fill_n(samples.begin() + 4000 * 16, 16 * 400, 0.0f);    // too early
    std::fill_n(samples.begin() + 21000 * 16, 16 * 400, 0.01f);  // the middle is at 21.2 s
    MemorySource audio(samples);
    auto pieces = cut_pieces(audio);
    ASSERT_TRUE(pieces);
    expect_covers(*pieces, 47001, 30000);
    ASSERT_EQ(pieces->size(), 2u);
    EXPECT_NEAR(static_cast<double>((*pieces)[0].t1_ms), 21200, 60);
}

TEST(CutPieces, WithoutADetectorAllIsCovered) {
    for (i64 duration_ms : {0, 1, 299, 9999, 10000, 10010, 10011, 43210}) {
        std::vector<float> samples = loud(duration_ms);
        MemorySource audio(samples);
        auto pieces = cut_pieces(audio, 10000);
        ASSERT_TRUE(pieces);
        expect_covers(*pieces, duration_ms, 10000);
    }
    std::vector<float> silence(16 * 35000, 0.0f);
    MemorySource audio(silence);
    expect_covers(*cut_pieces(audio, 10000), 35000, 10000);
}

}  // namespace
}  // namespace transcribe
