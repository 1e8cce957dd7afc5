// What a session makes of voice detection, with a detector and a recognizer that are made up: the
// recognizer says one segment for each second it hears.
#include <gtest/gtest.h>

#include "engine/session.h"

namespace transcribe {
namespace {

// Hears speech where samples are not zero.
class LoudIsSpeech : public VoiceDetector {
  public:
    const ModelInfo& info() const override { return info_; }
    Expected<SpeechTrack> listen(AudioSource& audio, Compute&) const override {
        SpeechTrack track;
        track.chunk_ms = 32;
        std::vector<float> chunk(512);
        for (size_t n = 512; n == 512;) {
            TRY_SET(n, audio.read(chunk));
            if (n > 0) track.probabilities.push_back(chunk[0] != 0 ? 0.9f : 0.02f);
            track.n_samples += static_cast<i64>(n);
        }
        return track;
    }

  private:
    ModelInfo info_;
};

struct Hearing {
    i64 n_samples = 0;
    std::vector<TimeSpan> pieces, clips;
};

class EverySecond : public Model {
  public:
    EverySecond() {
        info_.device = "cpu";
        info_.languages = {"en"};
        info_.has_timestamps = true;
    }
    const ModelInfo& info() const override { return info_; }
    Expected<std::unique_ptr<Worker>> worker(Compute&, const WorkerOptions&) const override {
        return std::unique_ptr<Worker>(std::make_unique<Ears>(*heard));
    }
    std::shared_ptr<std::vector<Hearing>> heard = std::make_shared<std::vector<Hearing>>();

  private:
    class Ears : public Worker {
      public:
        explicit Ears(std::vector<Hearing>& heard) : heard_(heard) {}
        Status run(std::span<const Recording> recordings, const Options& options,
                   std::span<Transcript> out) override {
            for (size_t i = 0; i < recordings.size(); i++) {
                std::vector<float> samples(1 << 22);
                TRY_SET(size_t n, recordings[i].audio->read(samples));
                heard_.push_back({static_cast<i64>(n), recordings[i].pieces, options.clips});
                i64 ms = static_cast<i64>(n) / 16;
                for (i64 t = 0; t < ms; t += 1000) {
                    Segment segment;
                    segment.id = static_cast<int>(t / 1000);
                    segment.t0_ms = t;
                    segment.t1_ms = std::min(ms, t + 1000);
                    if (options.on_segment) options.on_segment(static_cast<int>(i), segment);
                    out[i].segments.push_back(segment);
                }
                double s = static_cast<double>(n) / 16000;
                out[i].duration_s = s;
                if (options.on_progress) options.on_progress(static_cast<int>(i), s / 2, s);
            }
            return {};
        }
        Limits limits() const override { return {}; }

      private:
        std::vector<Hearing>& heard_;
    };
    ModelInfo info_;
};

// Seconds of sound and silence by turns, silence first.
std::vector<float> sound(std::initializer_list<int> seconds) {
    std::vector<float> samples;
    bool loud = false;
    for (int n : seconds) {
        samples.insert(samples.end(), static_cast<size_t>(n) * 16000, loud ? 0.5f : 0.0f);
        loud = !loud;
    }
    return samples;
}

class SessionVad : public testing::Test {
  protected:
    std::vector<Transcript> transcribe(std::vector<std::vector<float>> recordings,
                                       int batch_size = 1) {
        SessionOptions session_options;
        session_options.n_threads = 1;
        session_options.batch_size = batch_size;
        session_options.voice = std::make_shared<LoudIsSpeech>();
        session_ = *Session::make(model_, session_options);
        std::vector<std::unique_ptr<MemorySource>> sources;
        std::vector<AudioSource*> pointers;
        for (const auto& samples : recordings) {
            sources.push_back(std::make_unique<MemorySource>(samples));
            pointers.push_back(sources.back().get());
        }
        auto out = session_->transcribe(pointers, options_);
        EXPECT_TRUE(out) << out.error().what;
        return *std::move(out);
    }
    void SetUp() override { options_.vad = VadOptions(); }

    std::shared_ptr<EverySecond> model_ = std::make_shared<EverySecond>();
    std::unique_ptr<Session> session_;
    Options options_;
};

TEST_F(SessionVad, WithoutSpeechNobodyIsAsked) {
    auto out = transcribe({sound({90}), {}});
    EXPECT_TRUE(model_->heard->empty());
    EXPECT_EQ(out[0].outcome, Outcome::complete);
    EXPECT_EQ(out[0].duration_s, 90);
    EXPECT_EQ(out[0].language, "en");
    EXPECT_EQ(out[1].duration_s, 0);
}

TEST_F(SessionVad, TimesAreThoseOfTheRecording) {
    std::vector<std::pair<int, i64>> live;  // recording, start
    std::vector<double> progress;
    options_.on_segment = [&](int i, const Segment& s) { live.emplace_back(i, s.t0_ms); };
    options_.on_progress = [&](int, double done_s, double total_s) {
        progress = {done_s, total_s};
    };
    // The second: 20 s of silence, 4 s of speech, 30 s of silence, 4 s of speech.
    auto out = transcribe({sound({30}), sound({20, 4, 30, 4})});
    ASSERT_EQ(model_->heard->size(), 1u);
    const auto& segments = out[1].segments;
    EXPECT_EQ(model_->heard->front().n_samples, (4660 + 4314) * 16);
    ASSERT_EQ(segments.size(), 9u);
    EXPECT_EQ(segments[0].t0_ms, 19670);  // 30 ms of padding, and 300 ms of the pause
    EXPECT_EQ(segments[3].t1_ms, 23670);
    EXPECT_EQ(segments[4].t1_ms, 24330) << "it goes on behind the pause, with less of it";
    EXPECT_EQ(segments[8].t1_ms, 58000);
    for (size_t i = 0; i < segments.size(); i++) {
        EXPECT_EQ(segments[i].id, static_cast<int>(i));
        EXPECT_EQ(live[i], std::pair(1, segments[i].t0_ms));
    }
    EXPECT_EQ(out[1].duration_s, 58);
    ASSERT_EQ(progress.size(), 2u);
    EXPECT_NEAR(progress[0], 19.67 + 4.487, 0.001);
    EXPECT_EQ(progress[1], 58);
}

TEST_F(SessionVad, ClipsAreTakenFromTheSpeech) {
    options_.clips = {{21000, 22000}, {55000, 100000}};
    auto out = transcribe({sound({20, 4, 30, 4})});
    ASSERT_EQ(model_->heard->size(), 1u);
    EXPECT_EQ(model_->heard->front().n_samples, (1000 + 3000) * 16);
    EXPECT_TRUE(model_->heard->front().clips.empty());
    EXPECT_EQ(out[0].segments.front().t0_ms, 21000);
    EXPECT_EQ(out[0].segments.back().t1_ms, 58000);
}

TEST_F(SessionVad, BatchesGetPieces) {
    transcribe({sound({0, 20, 1, 25, 10, 3})}, 4);
    ASSERT_EQ(model_->heard->size(), 1u);
    const auto& pieces = model_->heard->front().pieces;
    ASSERT_EQ(pieces.size(), 2u);
    EXPECT_EQ(pieces[0].t1_ms, pieces[1].t0_ms);
    EXPECT_NEAR(static_cast<double>(pieces[0].t1_ms), 20500, 33);
    model_->heard->clear();
    transcribe({sound({0, 20})}, 4);
    EXPECT_TRUE(model_->heard->front().pieces.empty()) << "one piece is the whole";
}

TEST_F(SessionVad, BatchesGetPiecesWithoutADetectorToo) {
    options_.vad.reset();
    transcribe({sound({0, 20, 1, 25})}, 4);
    const auto& pieces = model_->heard->front().pieces;
    ASSERT_EQ(pieces.size(), 2u);
    EXPECT_NEAR(static_cast<double>(pieces[0].t1_ms), 20150, 200);
    model_->heard->clear();
    options_.clips = {{0, 5000}};
    transcribe({sound({0, 20, 1, 25})}, 4);
    EXPECT_TRUE(model_->heard->front().pieces.empty()) << "clips are pieces of their own";
}

TEST_F(SessionVad, AFaultWhileListeningIsOfTheRecordingOrOfAll) {
    class Deaf : public LoudIsSpeech {
      public:
        explicit Deaf(Code code) : code_(code) {}
        Expected<SpeechTrack> listen(AudioSource&, Compute&) const override {
            return Error{code_, "deaf"};
        }
        Code code_;
    };
    auto outcome = [&](Code code) {
        SessionOptions with_voice;
        with_voice.voice = std::make_shared<Deaf>(code);
        session_ = *Session::make(model_, with_voice);
        std::vector<float> samples(16000);
        MemorySource audio(samples);
        AudioSource* source = &audio;
        return session_->transcribe({&source, 1}, options_);
    };
    auto bad = outcome(Code::bad_audio), stopped = outcome(Code::aborted);
    ASSERT_TRUE(bad && stopped);
    EXPECT_EQ(bad->front().outcome, Outcome::invalid);
    EXPECT_EQ(bad->front().error.what, "deaf");
    EXPECT_EQ(stopped->front().outcome, Outcome::truncated);
    EXPECT_EQ(stopped->front().error.code, Code::aborted);
    EXPECT_FALSE(outcome(Code::out_of_memory));
    EXPECT_TRUE(model_->heard->empty());
}

TEST_F(SessionVad, NeedsADetector) {
    session_ = *Session::make(model_, {.n_threads = 1});
    std::vector<float> samples(16000);
    MemorySource audio(samples);
    AudioSource* source = &audio;
    auto out = session_->transcribe({&source, 1}, options_);
    ASSERT_FALSE(out);
    EXPECT_EQ(out.error().code, Code::invalid_argument);
}

}  // namespace
}  // namespace transcribe
