// Canary-Qwen from samples to text, through converter, loader and session: against NeMo's values
// for a random checkpoint and for one that was trained on spoken digits. Both lie in the folder of
// references beside the repository; without it these tests say that they are skipped.
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../npz.h"
#include "../tmp.h"
#include "convert/convert.h"
#include "decode/search.h"
#include "engine/open.h"
#include "engine/session.h"
#include "watch.h"

namespace transcribe::test {

namespace {

using Samples = std::vector<float>;

// 16-bit mono, behind a header of 44 bytes.
Samples read_wav(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    Samples out;
    for (size_t at = 44; at + 2 <= bytes.size(); at += 2) {
        out.push_back(static_cast<float>(npz::get<std::int16_t>(bytes, at)) / 32768.0f);
    }
    return out;
}

const OpenOptions in_f32{.precision = Precision::f32};  // as the reference computed

class CanaryQwen : public ::testing::Test {
  protected:
    const std::string folder_ = std::string(TESTS_DIR) + "/../../shared/reference/canary_qwen";

    void SetUp() override {
        if (!std::filesystem::exists(folder_)) {
            GTEST_SKIP() << "needs the folder of references beside the repository: " << folder_;
        }
    }

    // Converts a checkpoint and opens it.
    void open(const std::string& checkpoint, Dtype type) {
        path_ = tmp_folder() + "/" + checkpoint + "-" + std::string(dtype_name(type)) + ".gguf";
        auto report = convert(folder_ + "/" + checkpoint, path_,
                              {.type = type, .name = {}, .on_progress = {}});
        ASSERT_TRUE(report) << report.error().what;
        auto model = open_model(path_, in_f32);
        ASSERT_TRUE(model) << model.error().what;
        model_ = *model;
    }

    std::unique_ptr<Session> session(SessionOptions options = {}) {
        options.n_threads = 1;
        auto made = Session::make(model_, options);
        if (!made) ADD_FAILURE() << made.error().what;
        return *std::move(made);
    }

    static std::vector<Transcript> transcribe(Session& session, const std::vector<Samples>& clips,
                                              const Options& options = {}) {
        std::vector<MemorySource> sources(clips.begin(), clips.end());
        std::vector<AudioSource*> recordings;
        for (MemorySource& source : sources) recordings.push_back(&source);
        auto out = session.transcribe(recordings, options);
        if (!out) ADD_FAILURE() << out.error().what;
        return out ? *std::move(out) : std::vector<Transcript>(clips.size());
    }

    static std::vector<int> tokens_of(const Transcript& transcript) {
        return transcript.segments.empty() ? std::vector<int>() : transcript.segments[0].tokens;
    }

    std::string path_;
    std::shared_ptr<const Model> model_;
};

// NeMo's values for one clip of a checkpoint.
struct Golden {
    std::map<std::string, NpyArray> arrays;
    Samples samples;

    std::vector<int> ids(int end) const {
        std::vector<int> out;
        for (float id : arrays.at("ids").values) {
            if (static_cast<int>(id) != end) out.push_back(static_cast<int>(id));
        }
        return out;
    }
};

constexpr int im_end = 1202;

class CanaryQwenGolden : public CanaryQwen, public ::testing::WithParamInterface<const char*> {
  protected:
    std::vector<Golden> goldens() const {
        std::vector<Golden> out;
        std::string folder = folder_ + "/golden/" + GetParam();
        std::set<std::filesystem::path> files;
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            if (entry.path().extension() == ".npz") files.insert(entry.path());
        }
        for (const auto& file : files) {
            std::string name = file.stem();
            if (name == "batch") continue;
            out.push_back({read_npz(file), read_wav(folder_ + "/wavs/" + name + ".wav")});
        }
        EXPECT_EQ(out.size(), 3u);
        return out;
    }
};

TEST_P(CanaryQwenGolden, TapsOfTheLanguageModel) {
    open(GetParam(), Dtype::f32);
    auto own = session();
    Options first_token;
    first_token.max_tokens = 1;
    for (const Golden& golden : goldens()) {
        Recorder recorder;
        own->observe(&recorder);
        transcribe(*own, {golden.samples}, first_token);
        auto expect = [&](const std::string& ours, const std::string& theirs) {
            EXPECT_LE(nmse(recorder.taps[ours], golden.arrays.at(theirs).values), nmse_f32_max)
                << ours;
        };
        expect("dec.in", "lm_in");
        int last = 0;
        while (golden.arrays.contains(fmt::format("lm_layer{}", last + 1))) last++;
        for (int i = 0; i < last; i++) {
            expect(fmt::format("dec.block.{}.out", i), fmt::format("lm_layer{}", i));
        }
        expect(fmt::format("dec.block.{}.out", last), fmt::format("lm_layer{}_last", last));
        expect("dec.ln", "lm_norm_last");
        expect("dec.logits", "logits_prefill");
    }
}

// All tokens, or where the reference goes on in a loop those up to there.
void expect_tokens(const Transcript& ours, std::vector<int> wanted) {
    if (ours.note.find("repeated itself") != std::string::npos) {
        wanted.resize(n_without_loop(wanted));
    }
    EXPECT_EQ(ours.segments.at(0).tokens, wanted);
}

TEST_P(CanaryQwenGolden, GreedyTokensAloneAndInAPaddedBatch) {
    open(GetParam(), Dtype::f32);
    const std::vector<Golden> all = goldens();
    Options options;
    options.max_tokens = 64;  // as the reference
    std::vector<Samples> clips;
    auto alone = session(), batch = session({.batch_size = 3});
    for (const Golden& golden : all) {
        clips.push_back(golden.samples);
        expect_tokens(transcribe(*alone, {golden.samples}, options).at(0), golden.ids(im_end));
    }
    std::vector<Transcript> together = transcribe(*batch, clips, options);
    for (size_t i = 0; i < clips.size(); i++) expect_tokens(together[i], all[i].ids(im_end));
}

INSTANTIATE_TEST_SUITE_P(Checkpoints, CanaryQwenGolden,
                         ::testing::Values("salm-random", "salm-digits"), [](const auto& of) {
                             return std::string(of.param) == "salm-random" ? "Random" : "Digits";
                         });

// transformers, with LoRA merged into the weights in F32.
TEST_F(CanaryQwen, AnswersWithoutSound) {
    open("salm-random", Dtype::f32);
    Options options;
    options.max_tokens = 12;
    auto answer = session()->answer("Is it a five?", options);
    ASSERT_TRUE(answer) << answer.error().what;
    EXPECT_EQ(answer->tokens,
              std::vector<int>({465, 292, 447, 635, 504, 762, 668, 794, 671, 671, 671, 671}));
    EXPECT_NE(answer->note.find("limit of 12 tokens"), std::string::npos) << answer->note;
    open("salm-digits", Dtype::f32);
    EXPECT_EQ(session()->answer("Is it a five?", {})->text, "eight");
    auto none = session({.n_ctx = 25})->answer("Is it a five?", {});
    ASSERT_FALSE(none);
    EXPECT_NE(none.error().what.find("14 tokens"), std::string::npos) << none.error().what;
}

class CanaryQwenDigits : public CanaryQwen {
  protected:
    void SetUp() override {
        CanaryQwen::SetUp();
        if (IsSkipped()) return;
        std::ifstream(folder_ + "/digits/digits.json") >> facts_;
        for (const auto& clip : facts_) {
            clips_.push_back(read_wav(folder_ + "/digits/" + clip["wav"].get<std::string>()));
        }
        ASSERT_EQ(clips_.size(), 12u);
    }
    std::string text(size_t i) const { return facts_[i]["ref_text"]; }
    std::vector<int> ids(size_t i) const {
        std::vector<int> ids = facts_[i]["ref_ids"];
        ids.pop_back();  // the end
        return ids;
    }

    // Digit clips with pauses between them, and their words.
    std::pair<Samples, std::string> joined(size_t n) const {
        Samples all;
        std::string words;
        for (size_t i = 0; i < n; i++) {
            const Samples& clip = clips_[i % clips_.size()];
            all.insert(all.end(), clip.begin(), clip.end());
            all.insert(all.end(), sample_rate / 2, 0.0f);
            words += (words.empty() ? "" : " ") + text(i % clips_.size());
        }
        return {all, words};
    }

    nlohmann::json facts_;
    std::vector<Samples> clips_;
};

class CanaryQwenTypes : public CanaryQwenDigits, public ::testing::WithParamInterface<Dtype> {};

TEST_P(CanaryQwenTypes, TwelveClipsAloneAndTogether) {
    open("salm-digits", GetParam());
    auto alone = session(), batch = session({.batch_size = 12});
    std::vector<Transcript> together = transcribe(*batch, clips_);
    for (size_t i = 0; i < clips_.size(); i++) {
        Transcript single = transcribe(*alone, {clips_[i]}).at(0);
        for (const Transcript* ours : {&single, &together[i]}) {
            EXPECT_EQ(ours->outcome, Outcome::complete);
            EXPECT_EQ(ours->text, text(i));
            EXPECT_EQ(tokens_of(*ours), ids(i)) << i;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Types, CanaryQwenTypes,
                         ::testing::Values(Dtype::f32, Dtype::f16, Dtype::bf16),
                         [](const auto& of) { return std::string(dtype_name(of.param)); });

TEST_F(CanaryQwenDigits, TextsOfQuantizedWeights) {
    open("salm-digits", Dtype::f32);
    std::string quantized = tmp_folder() + "/salm-digits-q8_0.gguf";
    auto report = convert(path_, quantized, {.type = Dtype::q8_0, .name = {}, .on_progress = {}});
    ASSERT_TRUE(report) << report.error().what;
    model_ = *open_model(quantized, in_f32);
    auto own = session({.batch_size = 4});
    std::vector<Transcript> ours = transcribe(*own, clips_);
    for (size_t i = 0; i < clips_.size(); i++) EXPECT_EQ(ours[i].text, text(i));
}

TEST_F(CanaryQwenDigits, LongRecordingsLoseAndDoubleNoWord) {
    open("salm-digits", Dtype::f32);
    auto [samples, words] = joined(36);
    for (int batch_size : {1, 5}) {
        // The checkpoint knows clips of some 3 s.
        auto own = session({.batch_size = batch_size, .piece_ms_max = 3000});
        std::vector<Segment> heard;
        Options options;
        options.on_segment = [&](int, const Segment& segment) { heard.push_back(segment); };
        Transcript ours = transcribe(*own, {samples}, options).at(0);
        EXPECT_EQ(ours.outcome, Outcome::complete) << ours.note;
        EXPECT_EQ(ours.text, words);
        EXPECT_EQ(heard.size(), ours.segments.size());
        i64 at_ms = 0;
        for (const Segment& segment : ours.segments) {
            EXPECT_GE(segment.t0_ms, at_ms);
            EXPECT_GT(segment.t1_ms, segment.t0_ms);
            at_ms = segment.t1_ms;
        }
        EXPECT_LE(at_ms, static_cast<i64>(samples.size() / 16 + 1));
    }
}

TEST_F(CanaryQwenDigits, SilenceAndNothingGiveNoText) {
    open("salm-digits", Dtype::f32);
    auto own = session({.batch_size = 2});
    auto ours = transcribe(*own, {Samples(), Samples(16000), clips_[0]});
    EXPECT_EQ(ours[0].text, "");
    EXPECT_EQ(ours[1].text, "");
    EXPECT_EQ(ours[1].outcome, Outcome::complete);
    EXPECT_EQ(ours[2].text, text(0));
}

TEST_F(CanaryQwenDigits, ARecordingThatDoesNotFitIsRefusedBeforeAnyWork) {
    open("salm-digits", Dtype::f32);
    auto own = session({.batch_size = 2, .n_ctx = 100});
    i64 most_ms = own->limits().max_audio_ms;
    EXPECT_GT(most_ms, 0);
    EXPECT_GT(own->limits().cache_bytes_max, 0u);
    Recorder recorder;
    own->observe(&recorder);
    Transcript ours = transcribe(*own, {clips_[1]}).at(0);
    EXPECT_EQ(ours.outcome, Outcome::too_long);
    EXPECT_NE(ours.error.what.find("2.4"), std::string::npos) << ours.error.what;
    EXPECT_NE(ours.error.what.find("100 tokens"), std::string::npos) << ours.error.what;
    EXPECT_TRUE(recorder.taps.empty());

    Samples fits(clips_[1].begin(), clips_[1].begin() + most_ms * 16);
    EXPECT_NE(transcribe(*own, {fits}).at(0).outcome, Outcome::too_long);
    EXPECT_GT(session()->limits().max_audio_ms, 60000);
}

TEST_F(CanaryQwenDigits, ATextThatMeetsItsLimitIsTruncatedAndThere) {
    open("salm-digits", Dtype::f32);
    auto own = session();
    Options options;
    options.max_tokens = 2;
    Transcript ours = transcribe(*own, {clips_[1]}, options).at(0);
    EXPECT_EQ(ours.outcome, Outcome::truncated);
    EXPECT_EQ(ours.text, "four five");
    EXPECT_NE(ours.note.find("limit of 2 tokens"), std::string::npos) << ours.note;
}

// Cancels at some step.
class Canceller : public TapSink {
  public:
    Canceller(Session& session, int n_steps) : session_(session), n_left_(n_steps) {}
    bool wants(std::string_view name) override { return name == "dec.logits"; }
    void take(std::string_view, const Shape&, std::span<const float>) override {
        if (n_left_-- == 0) session_.cancel();
    }

  private:
    Session& session_;
    int n_left_;
};

TEST_F(CanaryQwenDigits, CancelEndsWithinAStepAndKeepsTheText) {
    open("salm-digits", Dtype::f32);
    auto own = session();
    Canceller canceller(*own, 3);
    own->observe(&canceller);
    Transcript ours = transcribe(*own, {clips_[1]}).at(0);
    EXPECT_EQ(ours.outcome, Outcome::truncated);
    EXPECT_EQ(ours.error.code, Code::aborted);
    EXPECT_TRUE(text(1).starts_with(ours.text) && !ours.text.empty()) << ours.text;
    EXPECT_LE(tokens_of(ours).size(), 4u);
    own->observe(nullptr);
    EXPECT_EQ(transcribe(*own, {clips_[1]}).at(0).text, text(1));
}

TEST_F(CanaryQwenDigits, WhatItDoesNotHaveIsRefusedInASentence) {
    open("salm-digits", Dtype::f32);
    auto own = session();
    auto fault = [&](auto change) {
        Options options;
        change(options);
        auto checked = own->check(options);
        return checked ? std::string("none") : checked.error().what;
    };
    EXPECT_EQ(fault([](Options&) {}), "none");
    EXPECT_NE(fault([](Options& o) { o.word_timestamps = true; }).find("times of words"),
              std::string::npos);
    EXPECT_NE(fault([](Options& o) { o.task = Task::translate; }).find("translate"),
              std::string::npos);
    EXPECT_NE(fault([](Options& o) { o.beam_size = 5; }).find("beam"), std::string::npos);
    EXPECT_NE(fault([](Options& o) { o.language = "de"; }).find("\"de\""), std::string::npos);
}

}  // namespace

}  // namespace transcribe::test
