// The reference twin: a tiny random Whisper whose numbers openai-whisper computed (data/README.md),
// through the real converter and loader.
#include <fstream>

#include <nlohmann/json.hpp>

#include "../tmp.h"
#include "convert/convert.h"
#include "convert/safetensors.h"
#include "twin.h"

namespace transcribe::test {

namespace {

const std::string data_dir = std::string(TESTS_DIR) + "/twins/data/whisper";

// Row-major [rows, columns] to what we feed: columns become rows.
std::vector<float> transposed(const std::vector<float>& x, size_t n_rows, size_t n_columns) {
    std::vector<float> out(x.size());
    for (size_t i = 0; i < n_rows; i++) {
        for (size_t j = 0; j < n_columns; j++) out[j * n_rows + i] = x[i * n_columns + j];
    }
    return out;
}

class WhisperReference : public ::testing::Test {
  protected:
    static void SetUpTestSuite() {
        std::string path = test::tmp_folder() + "/whisper_reference.gguf";
        auto report = convert(data_dir, path, {});
        ASSERT_TRUE(report) << report.error().what;
        model_ = load_whisper(path);
        ASSERT_TRUE(read_safetensors(data_dir + "/golden.safetensors", arrays_));
        std::ifstream(data_dir + "/golden.json") >> golden_;
    }
    static void TearDownTestSuite() { model_.reset(); }

    static std::vector<float> array(const std::string& name) {
        const SourceTensor& t = *arrays_.find(name);
        std::vector<float> out(static_cast<size_t>(t.n_elements()));
        t.read(0, out);
        return out;
    }

    // The golden mel [80, 80] as a window [80 mels, 120 frames], zeros behind.
    static std::vector<float> mel() {
        std::vector<float> window = transposed(array("mel"), 80, 80);
        window.resize(80 * 120, 0.0f);
        return window;
    }

    static whisper::Prompt prompt(const std::vector<int>& tokens) {
        auto sot = std::find(tokens.begin(), tokens.end(), model_->config().ids.sot);
        return {tokens, static_cast<int>(sot - tokens.begin())};
    }

    static void expect_equal(const char* key, bool timestamps) {
        const auto& want = golden_[key];
        Bench bench(*model_, 1);
        ASSERT_TRUE(bench.decoder->encode(mel(), 0));
        WhisperRules rule = rules_of(model_->config(), timestamps);
        auto text = bench.decode({prompt(want["prompt"])}, rule).at(0);
        EXPECT_EQ(text.tokens, want["ids"].get<std::vector<int>>());
        EXPECT_NEAR(text.avg_logprob, want["avg_logprob"].get<float>(), 1e-4);
        EXPECT_NEAR(text.no_speech_prob, want["no_speech_prob"].get<float>(), 1e-5);
    }

    static inline std::shared_ptr<const whisper::WhisperModel> model_;
    static inline Checkpoint arrays_;
    static inline nlohmann::json golden_;
};

TEST_F(WhisperReference, EncoderTaps) {
    Bench bench(*model_, 1);
    Recorder recorder;
    bench.compute->observe(&recorder);
    ASSERT_TRUE(bench.decoder->encode(mel(), 0));
    auto& taps = recorder.taps;
    for (const char* name : {"enc.block.0.out", "enc.block.1.out", "enc.out"}) {
        EXPECT_LE(nmse(taps[name], array(name)), nmse_f32_max) << name;
    }
    for (auto [name, n] : {std::pair{"enc.conv1.pre_gelu", 120}, {"enc.conv2.pre_gelu", 60}}) {
        std::vector<float> want = transposed(array(name), 16, static_cast<size_t>(n));
        EXPECT_LE(nmse(taps[name], want), nmse_f32_max) << name;
    }
}

TEST_F(WhisperReference, DecoderTaps) {
    Bench bench(*model_, 1);
    ASSERT_TRUE(bench.decoder->encode(mel(), 0));
    Recorder recorder;
    bench.compute->observe(&recorder);
    class StopAtOnce : public LogitRule {
      public:
        explicit StopAtOnce(int eot) : eot_(static_cast<size_t>(eot)) {}
        void apply(std::span<const int>, std::span<float> logits) const override {
            logits[eot_] = 1e9f;
        }
        size_t eot_;
    } rule(model_->config().ids.eot);
    bench.decode({prompt(golden_["prompt"])}, rule);
    for (const char* name : {"dec.block.0.out", "dec.block.1.out"}) {
        EXPECT_LE(nmse(recorder.taps[name], array(name)), nmse_f32_max) << name;
    }
    // Two tokens are picked for the head: the last, and start-of-transcript, which is the first.
    for (auto [name, n] : {std::pair{"dec.ln", 16}, {"dec.logits", 376}}) {
        std::vector<float> all = array(name), want(all.end() - n, all.end());
        want.insert(want.end(), all.begin(), all.begin() + n);
        EXPECT_LE(nmse(recorder.taps[name], want), nmse_f32_max) << name;
    }
}

TEST_F(WhisperReference, Languages) {
    Bench bench(*model_, 1);
    ASSERT_TRUE(bench.decoder->encode(mel(), 0));
    auto ours = bench.decoder->languages(0);
    ASSERT_TRUE(ours) << ours.error().what;
    const auto& want = golden_["language_probs"];
    for (size_t i = 0; i < model_->config().languages.size(); i++) {
        float p = want[model_->config().languages[i]].get<float>();
        EXPECT_NEAR(ours->at(i), p, 1e-5);
    }
}

TEST_F(WhisperReference, GreedyWithoutRules) {
    class NoRule : public LogitRule {
        void apply(std::span<const int>, std::span<float>) const override {}
    } rule;
    Bench bench(*model_, 1);
    ASSERT_TRUE(bench.decoder->encode(mel(), 0));
    auto ours = bench.decode({prompt(golden_["prompt"])}, rule).at(0).tokens;
    auto want = golden_["raw_greedy_ids"].get<std::vector<int>>();
    ASSERT_GE(ours.size(), want.size());
    ours.resize(want.size());
    EXPECT_EQ(ours, want);
}

TEST_F(WhisperReference, GreedyWithTimestamps) {
    expect_equal("greedy_ts", true);
}
TEST_F(WhisperReference, GreedyWithoutTimestamps) {
    expect_equal("greedy_nots", false);
}
TEST_F(WhisperReference, GreedyWithContext) {
    expect_equal("greedy_ts_context", true);
}
TEST_F(WhisperReference, Translation) {
    expect_equal("translate_nots", false);
}

}  // namespace

}  // namespace transcribe::test
