// The library as a program uses it: what a run gives, callbacks, batches, streams, files.
#include <fstream>
#include <span>
#include <thread>

#include "api.h"

namespace transcribe::test {

namespace {

TEST(Library, SaysItsVersionAndNamesOfStatuses) {
    EXPECT_STREQ(transcribe_version(), "0.1.0");
    EXPECT_STREQ(transcribe_status_name(TRANSCRIBE_INPUT_TOO_LONG), "INPUT_TOO_LONG");
    EXPECT_STREQ(transcribe_status_name(static_cast<transcribe_status>(99)), "unknown");
}

TEST(Library, ListsAProcessor) {
    bool has_cpu = false;
    for (size_t i = 0; i < transcribe_device_count(); i++) {
        transcribe_device_info info{};
        info.size = sizeof info;
        ASSERT_EQ(transcribe_device_get_info(i, &info), TRANSCRIBE_OK);
        has_cpu = has_cpu || std::string(info.kind) == "cpu";
    }
    EXPECT_TRUE(has_cpu);
}

TEST(Library, TellsWhatItDoesToWhoAsks) {
    std::string told;
    auto append = [](void* user, transcribe_log_level, const char* text) {
        *static_cast<std::string*>(user) += text;
    };
    transcribe_set_log_callback(append, &told);
    twin();
    transcribe_set_log_callback(nullptr, nullptr);
    EXPECT_NE(told.find("parameters on"), std::string::npos) << told;
}

TEST(Library, AModelSaysWhatItCan) {
    Model model = twin();
    transcribe_model_info info = model.info();
    EXPECT_STREQ(info.family, "whisper");
    ASSERT_EQ(info.n_languages, 3u);
    EXPECT_STREQ(info.languages[2], "de");
    EXPECT_TRUE(info.detects_language && info.translates && info.streams);
    EXPECT_EQ(info.timestamps, TRANSCRIBE_TIMESTAMPS_WORD);
    EXPECT_EQ(info.sample_rate_hz, 16000);
}

TEST(Library, AModelInMemoryIsThatOfItsFile) {
    std::ifstream file(TWIN_FILE, std::ios::binary);
    std::string raw{std::istreambuf_iterator<char>(file), {}};
    ModelOptions options;
    options.precision = "f32";
    Model from_file(TWIN_FILE, options);
    Model model(std::as_bytes(std::span(raw)), options);
    for (size_t n : {raw.size() - 1, raw.size() / 2, size_t{100}}) {
        EXPECT_THROW(Model(std::as_bytes(std::span(raw).first(n)), options), Failure) << n;
    }
    raw.assign(raw.size(), '?');
    Session session(model, one_thread()), of_file(from_file, one_thread());
    RunOptions run;
    run.temperature_increment = 0;
    EXPECT_TRUE(bytes(session.run(sound(3, 300), run)) == bytes(of_file.run(sound(3, 300), run)));
}

TEST(Library, LimitsArePublished) {
    Model model = twin();
    SessionOptions options = one_thread();
    options.batch_size = 1;
    const transcribe_limits one = Session(model, options).limits();
    EXPECT_EQ(one.max_audio_ms, 0);  // any length
    EXPECT_EQ(model.info().max_audio_ms, 0);
    options.batch_size = 4;
    EXPECT_EQ(Session(model, options).limits().cache_bytes_max, 4 * one.cache_bytes_max);
    EXPECT_GT(one.cache_bytes_max, 0u);
}

TEST(Library, SegmentsComeAsTheyAreInTheResult) {
    Model model = twin();
    Session session(model, one_thread());
    std::vector<std::string> heard;
    std::vector<double> done;
    RunOptions options;
    options.timestamps = TRANSCRIBE_TIMESTAMPS_WORD;
    options.on_segment = [&](size_t clip, const transcribe_segment& segment) {
        EXPECT_EQ(clip, 0u);
        heard.emplace_back(segment.text);
    };
    options.on_progress = [&](size_t, double fraction) { done.push_back(fraction); };
    std::vector<float> pcm = sound(5, 440);
    Result result = session.run(pcm, options);

    std::vector<Segment> segments = result.segments();
    ASSERT_FALSE(segments.empty());
    ASSERT_EQ(heard.size(), segments.size());
    std::string words;
    for (size_t i = 0; i < segments.size(); i++) {
        EXPECT_EQ(heard[i], segments[i].text);
        EXPECT_LE(segments[i].t0_ms, segments[i].t1_ms);
        EXPECT_FALSE(segments[i].tokens.empty());
        words += segments[i].words.empty() ? "" : segments[i].words[0].text;
    }
    EXPECT_FALSE(words.empty());
    EXPECT_EQ(result.info().duration_ms, 5000);
    ASSERT_FALSE(done.empty());
    EXPECT_EQ(done.back(), 1);
    EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
}

TEST(Library, WhatACallbackThrowsEndsTheRunAndComesOut) {
    Model model = twin();
    Session session(model, one_thread());
    RunOptions options;
    options.on_segment = [](size_t, const transcribe_segment&) { throw 42; };
    std::vector<float> pcm = sound(5, 440);
    EXPECT_THROW(session.run(pcm, options), int);
    EXPECT_GT(session.run(pcm).info().n_segments, 0u);  // the session is none the worse
}

TEST(Library, ABatchGivesWhatItsRecordingsGiveAlone) {
    Model model = twin();
    Session session(model, one_thread());
    std::vector<float> a = sound(3, 300), b = sound(2, 600);
    std::vector<transcribe_clip> clips{
        {a.data(), a.size(), nullptr}, {nullptr, 0, SAMPLE_FILE}, {b.data(), b.size(), nullptr}};
    std::vector<Result> together = session.run_batch(clips);
    // Text and times; the last digit of a probability depends on the rows beside it.
    auto said = [](const Result& result) { return std::string(result.format("tsv")); };
    EXPECT_EQ(said(together[0]), said(session.run(a)));
    EXPECT_EQ(said(together[1]), said(session.run_file(SAMPLE_FILE)));
    EXPECT_EQ(said(together[2]), said(session.run(b)));
}

TEST(Library, ASecondCallOfABusySessionIsRefused) {
    Model model = twin();
    Session session(model, one_thread());
    transcribe_status inner = TRANSCRIBE_OK;
    RunOptions options;
    std::vector<float> pcm = sound(2, 440);
    options.on_segment = [&](size_t, const transcribe_segment&) {
        transcribe_result* result = nullptr;
        inner = transcribe_run(session.handle(), pcm.data(), pcm.size(), nullptr, &result);
    };
    session.run(pcm, options);
    EXPECT_EQ(inner, TRANSCRIBE_INVALID_ARG);
}

TEST(Library, AStreamCommitsAllThatItsResultHolds) {
    Model model = twin();
    Session session(model, one_thread());
    Stream stream(session);
    std::vector<float> pcm = sound(6, 440);
    std::string committed;
    for (size_t at = 0; at < pcm.size(); at += 8000) {
        committed += stream.feed(std::span(pcm).subspan(at, 8000)).committed;
    }
    committed += stream.finish().committed;
    std::string all;
    Result result = stream.result();
    for (const Segment& segment : result.segments()) all += segment.text;
    EXPECT_EQ(committed, all);
    EXPECT_EQ(result.info().duration_ms, 6000);
}

TEST(Library, ResamplesAnyRateAndChannels) {
    std::vector<float> stereo(2 * 44100);
    for (size_t i = 0; i < 44100; i++) {
        stereo[2 * i] = stereo[2 * i + 1] = 0.5f * std::sin(0.0626f * static_cast<float>(i));
    }
    size_t n = 0;
    ASSERT_EQ(transcribe_resample({44100, 2}, nullptr, 44100, nullptr, 0, &n), TRANSCRIBE_OK);
    std::vector<float> mono(n);
    ASSERT_EQ(transcribe_resample({44100, 2}, stereo.data(), 44100, mono.data(), n, &n),
              TRANSCRIBE_OK);
    EXPECT_EQ(n, 16000u);
    double power = 0;
    for (size_t i = 0; i < n; i++) power += mono[i] * mono[i];
    EXPECT_NEAR(power / static_cast<double>(n), 0.125, 0.002);  // of a sine of 0.5
    EXPECT_EQ(transcribe_resample({10, 2}, stereo.data(), 5, mono.data(), n, &n),
              TRANSCRIBE_INVALID_ARG);
}

TEST(Library, RealSpeechIsUnderstood) {
    SKIP_WITHOUT_TINY_EN();
    Model model(tiny_en());
    Session session(model, one_thread());
    Result result = session.run_file(SAMPLE_FILE);
    EXPECT_NE(result.text().find("Hello and welcome"), std::string::npos) << result.text();
    EXPECT_EQ(result.language(), "en");
}

}  // namespace

}  // namespace transcribe::test
