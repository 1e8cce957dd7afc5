// The reference twins: tiny random Whispers whose numbers openai-whisper computed (data/README.md),
// through the real converter and loader.
#include <fstream>

#include <nlohmann/json.hpp>

#include "../tmp.h"
#include "convert/convert.h"
#include "convert/safetensors.h"
#include "twin.h"

namespace transcribe::test {

namespace {

// Row-major [rows, columns] to what we feed: columns become rows.
std::vector<float> transposed(const std::vector<float>& x, size_t n_rows, size_t n_columns) {
    std::vector<float> out(x.size());
    for (size_t i = 0; i < n_rows; i++) {
        for (size_t j = 0; j < n_columns; j++) out[j * n_rows + i] = x[i * n_columns + j];
    }
    return out;
}

// The parameter is the twin's folder.
class WhisperReference : public ::testing::TestWithParam<const char*> {
  protected:
    void SetUp() override {
        std::string data = std::string(TESTS_DIR) + "/twins/data/" + GetParam();
        std::string path = test::tmp_folder() + "/" + GetParam() + ".gguf";
        auto report = convert(data, path, {});
        ASSERT_TRUE(report) << report.error().what;
        model_ = load_whisper(path);
        ASSERT_TRUE(read_safetensors(data + "/golden.safetensors", arrays_));
        std::ifstream(data + "/golden.json") >> golden_;
    }

    std::vector<float> array(const std::string& name) const {
        const SourceTensor& t = *arrays_.find(name);
        std::vector<float> out(static_cast<size_t>(t.n_elements()));
        t.read(0, out);
        return out;
    }

    // The golden mel [n_mels, frames with content] as a window of frames, zeros behind.
    std::vector<float> mel() const {
        const whisper::Config& c = model_->config();
        auto n_mels = static_cast<size_t>(c.net.n_mels);
        std::vector<float> golden = array("mel");
        std::vector<float> window = transposed(golden, n_mels, golden.size() / n_mels);
        window.resize(n_mels * static_cast<size_t>(c.n_frames()), 0.0f);
        return window;
    }

    // The outputs of all blocks.
    void expect_blocks(const char* side, int n, Recorder& recorder) const {
        for (int i = 0; i < n; i++) {
            std::string name = std::string(side) + ".block." + std::to_string(i) + ".out";
            EXPECT_LE(nmse(recorder.taps[name], array(name)), nmse_f32_max) << name;
        }
    }

    whisper::Prompt prompt(const std::vector<int>& tokens) const {
        auto sot = std::find(tokens.begin(), tokens.end(), model_->config().ids.sot);
        return {tokens, static_cast<int>(sot - tokens.begin())};
    }

    void expect_equal(const char* key, bool timestamps) const {
        const auto& want = golden_[key];
        Bench bench(*model_, 1);
        ASSERT_TRUE(bench.decoder->encode(mel(), 0));
        WhisperRules rule = rules_of(model_->config(), timestamps);
        auto text = bench.decode({prompt(want["prompt"])}, rule).at(0);
        EXPECT_EQ(text.tokens, want["ids"].get<std::vector<int>>());
        EXPECT_NEAR(text.avg_logprob, want["avg_logprob"].get<float>(), 1e-4);
        EXPECT_NEAR(text.no_speech_prob, want["no_speech_prob"].get<float>(), 1e-5);
    }

    std::shared_ptr<const whisper::WhisperModel> model_;
    Checkpoint arrays_;
    nlohmann::json golden_;
};

TEST_P(WhisperReference, EncoderTaps) {
    Bench bench(*model_, 1);
    Recorder recorder;
    bench.compute->observe(&recorder);
    ASSERT_TRUE(bench.decoder->encode(mel(), 0));
    expect_blocks("enc", model_->config().net.enc.n_layers, recorder);
    EXPECT_LE(nmse(recorder.taps["enc.out"], array("enc.out")), nmse_f32_max);
    auto d = static_cast<size_t>(model_->config().net.enc.d);
    for (const char* name : {"enc.conv1.pre_gelu", "enc.conv2.pre_gelu"}) {
        std::vector<float> golden = array(name), want = transposed(golden, d, golden.size() / d);
        EXPECT_LE(nmse(recorder.taps[name], want), nmse_f32_max) << name;
    }
}

TEST_P(WhisperReference, DecoderTaps) {
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
    const whisper::NetConfig& c = model_->config().net;
    expect_blocks("dec", c.dec.n_layers, recorder);
    // Two tokens are picked for the head: the last, and start-of-transcript, which is the first.
    std::map<std::string, i64> sizes = {{"dec.ln", c.dec.d}, {"dec.logits", c.n_vocab}};
    for (auto [name, n] : sizes) {
        std::vector<float> all = array(name), want(all.end() - n, all.end());
        want.insert(want.end(), all.begin(), all.begin() + n);
        EXPECT_LE(nmse(recorder.taps[name], want), nmse_f32_max) << name;
    }
}

TEST_P(WhisperReference, Languages) {
    Bench bench(*model_, 1);
    ASSERT_TRUE(bench.decoder->encode(mel(), 0));
    auto ours = bench.decoder->languages(0);
    ASSERT_TRUE(ours) << ours.error().what;
    const auto& want = golden_["language_probs"];
    EXPECT_EQ(model_->config().languages.size(), want.size());
    for (size_t i = 0; i < model_->config().languages.size(); i++) {
        float p = want[model_->config().languages[i]].get<float>();
        EXPECT_NEAR(ours->at(i), p, 1e-5);
    }
}

TEST_P(WhisperReference, AlignmentHeads) {
    auto want = golden_["align"]["heads"].get<std::vector<std::vector<int>>>();
    EXPECT_EQ(model_->config().alignment_heads, want);
}

TEST_P(WhisperReference, WordTimes) {
    const auto& want = golden_["align"];
    Bench bench(*model_, 1);
    ASSERT_TRUE(bench.decoder->encode(mel(), 0));
    auto ours = bench.decoder->align(0, {want["before"], want["text"], want["n_frames"]});
    ASSERT_TRUE(ours) << ours.error().what;
    EXPECT_EQ(ours->frames, want["frames"].get<std::vector<int>>());
    std::vector<float> p = want["probabilities"];
    ASSERT_EQ(ours->probabilities.size(), p.size());
    for (size_t i = 0; i < p.size(); i++) EXPECT_NEAR(ours->probabilities[i], p[i], 1e-3 * p[i]);
}

TEST_P(WhisperReference, GreedyWithoutRules) {
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

TEST_P(WhisperReference, GreedyWithTimestamps) {
    expect_equal("greedy_ts", true);
}
TEST_P(WhisperReference, GreedyWithoutTimestamps) {
    expect_equal("greedy_nots", false);
}
TEST_P(WhisperReference, GreedyWithContext) {
    expect_equal("greedy_ts_context", true);
}
TEST_P(WhisperReference, Translation) {
    expect_equal("translate_nots", false);
}

INSTANTIATE_TEST_SUITE_P(Twins, WhisperReference, ::testing::Values("whisper", "whisper-v3"),
                         [](const auto& twin) {
                             return std::string(twin.param) == "whisper" ? "V2" : "DistilledV3";
                         });

}  // namespace

}  // namespace transcribe::test
