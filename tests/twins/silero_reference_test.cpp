// Voice detection against silero-vad: a tiny random network through the real converter and loader,
// and, where it is in the user's cache, the published one on the sample of this repository.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include <nlohmann/json.hpp>

#include "../tmp.h"
#include "audio/decode.h"
#include "convert/convert.h"
#include "engine/open.h"
#include "engine/speech.h"
#include "hub/hub.h"
#include "tensor/weights.h"

namespace transcribe::test {

namespace {

const std::string data_dir = std::string(TESTS_DIR) + "/twins/data/silero";

std::vector<float> golden(const char* name) {
    std::ifstream file(data_dir + "/golden.json");
    return nlohmann::json::parse(file)[name].get<std::vector<float>>();
}

// The sound of tools/make_silero_golden.py.
std::vector<float> tiny_sound() {
    std::vector<float> samples(100 * 32 + 13);
    for (size_t i = 0; i < samples.size(); i++) {
        double t = static_cast<double>(i);
        samples[i] = static_cast<float>(0.5 * std::sin(0.05 * t) * std::sin(0.002 * t));
    }
    return samples;
}

void expect_near(const std::vector<float>& ours, const std::vector<float>& want) {
    ASSERT_EQ(ours.size(), want.size());
    for (size_t i = 0; i < want.size(); i++) EXPECT_NEAR(ours[i], want[i], 1e-5) << "chunk " << i;
}

SpeechTrack hear(std::shared_ptr<const VoiceDetector> detector, AudioSource& audio) {
    auto listener = Listener::make(detector);
    EXPECT_TRUE(listener);
    auto track = (*listener)->track(audio);
    EXPECT_TRUE(track) << track.error().what;
    return *std::move(track);
}

class Silero : public ::testing::Test {
  protected:
    static void SetUpTestSuite() {
        std::string path = tmp_folder() + "/silero.gguf";
        auto report = convert(data_dir, path, {});
        ASSERT_TRUE(report) << report.error().what;
        auto opened = open_voice_detector(path);
        ASSERT_TRUE(opened) << opened.error().what;
        detector_ = *opened;
    }
    static void TearDownTestSuite() { detector_.reset(); }
    static inline std::shared_ptr<const VoiceDetector> detector_;
};

TEST_F(Silero, ATinyOneGivesTheReferencesProbabilities) {
    std::vector<float> samples = tiny_sound();
    MemorySource audio(samples);
    SpeechTrack track = hear(detector_, audio);
    expect_near(track.probabilities, golden("tiny"));
    EXPECT_EQ(track.chunk_ms, 2);
    EXPECT_EQ(track.duration_ms(), 201);  // 3213 samples, rounded up
}

TEST_F(Silero, WhereARecordingIsReadFromMakesNoDifference) {
    // Longer than a graph takes at once, and not a whole number of chunks.
    std::vector<float> samples;
    while (samples.size() < 20000) {
        for (float x : tiny_sound()) samples.push_back(x);
    }
    class InBits : public MemorySource {
      public:
        using MemorySource::MemorySource;
        Expected<size_t> read(std::span<float> out) override {
            size_t n = 0;
            while (n < out.size()) {  // as a decoder fills a request, block by block
                auto part = MemorySource::read(out.subspan(n, std::min<size_t>(7, out.size() - n)));
                if (*part == 0) break;
                n += *part;
            }
            return n;
        }
    };
    MemorySource whole(samples);
    InBits bits(samples);
    SpeechTrack one = hear(detector_, whole);
    EXPECT_EQ(one.probabilities.size(), (samples.size() + 31) / 32);
    EXPECT_EQ(hear(detector_, bits).probabilities, one.probabilities);
    std::vector<float> head(samples.begin(), samples.begin() + 5000);
    MemorySource shorter(head);
    SpeechTrack start = hear(detector_, shorter);
    for (size_t i = 0; i < 5000 / 32; i++) {
        EXPECT_EQ(start.probabilities[i], one.probabilities[i]) << i;
    }
}

TEST_F(Silero, NothingToHearGivesNothing) {
    MemorySource audio({});
    SpeechTrack track = hear(detector_, audio);
    EXPECT_TRUE(track.probabilities.empty());
    EXPECT_EQ(track.duration_ms(), 0);
}

TEST_F(Silero, ACancelledListenerSaysSo) {
    std::vector<float> samples = tiny_sound();
    MemorySource audio(samples);
    auto listener = Listener::make(detector_);
    (*listener)->cancelled() = true;
    auto track = (*listener)->track(audio);
    ASSERT_FALSE(track);
    EXPECT_EQ(track.error().code, Code::aborted);
}

TEST_F(Silero, IsNoRecognizer) {
    auto model = open_model(tmp_folder() + "/silero.gguf");
    ASSERT_FALSE(model);
    EXPECT_NE(model.error().what.find("--vad-model"), std::string::npos) << model.error().what;
}

TEST(SileroPublished, GivesTheReferencesProbabilities) {
    auto path = resolve_model(std::string(default_vad_model), {.on_progress = {}, .offline = true});
    if (!path) GTEST_SKIP() << path.error().what;
    auto detector = open_voice_detector(*path);
    ASSERT_TRUE(detector) << detector.error().what;
    auto audio = AudioFile::open(std::string(TESTS_DIR) + "/../samples/hello.flac");
    ASSERT_TRUE(audio) << audio.error().what;
    expect_near(hear(*detector, **audio).probabilities, golden("hello.flac"));
}

}  // namespace

}  // namespace transcribe::test
