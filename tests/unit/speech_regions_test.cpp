// Regions of speech from probabilities, held to silero-vad (tools/make_silero_golden.py).
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include <nlohmann/json.hpp>

#include "decode/speech_regions.h"

namespace transcribe {

bool operator==(const TimeSpan& a, const TimeSpan& b) {
    return a.t0_ms == b.t0_ms && a.t1_ms == b.t1_ms;
}
void PrintTo(const TimeSpan& span, std::ostream* out) {
    *out << span.t0_ms << " to " << span.t1_ms;
}

namespace {

using Spans = std::vector<TimeSpan>;

SpeechTrack track_of(std::vector<float> probabilities) {
    i64 n_samples = 512 * static_cast<i64>(probabilities.size());
    return {.probabilities = std::move(probabilities), .chunk_ms = 32, .n_samples = n_samples};
}

TEST(SpeechRegions, AreThoseOfTheReference) {
    std::ifstream file(std::string(TESTS_DIR) + "/unit/data/speech_regions.json");
    nlohmann::json cases = nlohmann::json::parse(file);
    ASSERT_GE(cases.size(), 10u);
    for (const auto& each : cases) {
        VadOptions options;
        options.threshold = each["options"]["threshold"];
        options.min_speech_ms = each["options"]["min_speech_ms"];
        options.min_silence_ms = each["options"]["min_silence_ms"];
        options.speech_pad_ms = each["options"]["speech_pad_ms"];
        options.max_speech_s = each["options"]["max_speech_s"];
        SpeechTrack track = track_of(each["probabilities"]);
        track.n_samples = 16 * each["duration_ms"].get<i64>();
        Spans want;
        for (const auto& region : each["regions"]) want.push_back({region[0], region[1]});
        EXPECT_EQ(speech_regions(track, options), want) << each["options"];
    }
}

TEST(SpeechRegions, SilenceAndNothingHaveNone) {
    EXPECT_EQ(speech_regions(track_of({}), {}), Spans{});
    EXPECT_EQ(speech_regions(track_of(std::vector<float>(1000, 0.1f)), {}), Spans{});
    EXPECT_EQ(speech_regions(track_of(std::vector<float>(1000, std::nanf(""))), {}), Spans{});
}

TEST(SpeechRegions, SpeechWithoutAPauseIsOne) {
    SpeechTrack track = track_of(std::vector<float>(1000, 0.9f));
    track.n_samples -= 17 * 16 - 1;  // the last chunk hangs over; rounded up
    EXPECT_EQ(speech_regions(track, {}), (Spans{{0, 31984}}));
}

TEST(SpeechRegions, NoRegionIsLongerThanTheLimit) {
    VadOptions options;
    options.max_speech_s = 3;
    Spans regions = speech_regions(track_of(std::vector<float>(1000, 0.9f)), options);
    EXPECT_GT(regions.size(), 10u);
    for (const TimeSpan& region : regions) EXPECT_LE(region.t1_ms - region.t0_ms, 3000);
}

}  // namespace

}  // namespace transcribe
