// The self twin: the schema that dry binding gives, random weights of a seed, the normal loader.
// What must hold of every family: one path for prompt, step and batch; flash and plain attention;
// many sessions at once.
#include <random>
#include <thread>

#include "../tmp.h"
#include "convert/gguf_writer.h"
#include "twin.h"

namespace transcribe::test {

namespace {

constexpr int n_text_tokens = 300, n_timestamps = 41;
const std::vector<std::string> specials = {
    "<|endoftext|>", "<|startoftranscript|>", "<|en|>",        "<|de|>",
    "<|translate|>", "<|transcribe|>",        "<|startoflm|>", "<|startofprev|>",
    "<|nospeech|>",  "<|notimestamps|>"};

whisper::NetConfig sizes() {
    whisper::NetConfig c;
    c.enc = {.n_layers = 3, .n_heads = 3, .d = 48, .d_ff = 96};
    c.dec = {.n_layers = 2, .n_heads = 3, .d = 48, .d_ff = 96};
    c.n_mels = 16;
    c.n_audio_ctx = 20;
    c.n_text_ctx = 64;
    c.n_vocab = n_text_tokens + static_cast<int>(specials.size()) + n_timestamps;
    return c;
}

std::vector<std::string> pieces() {
    std::vector<std::string> out;
    for (int i = 0; i < n_text_tokens; i++) {
        out.push_back({static_cast<char>('a' + i / 26 % 26), static_cast<char>('a' + i % 26)});
        if (i >= 26 * 11) out.back() += "z";
    }
    out.insert(out.end(), specials.begin(), specials.end());
    for (int i = 0; i < n_timestamps; i++) out.push_back("<|t" + std::to_string(i) + "|>");
    return out;
}

std::vector<GgufKey> keys(const whisper::NetConfig& c) {
    auto u = [](i64 v) { return static_cast<std::uint32_t>(v); };
    std::vector<GgufKey> out{{"general.architecture", std::string("whisper")}};
    for (auto [side, spec] : {std::pair{"encoder", c.enc}, {"decoder", c.dec}}) {
        std::string at = std::string("stt.whisper.") + side + ".";
        out.push_back({at + "n_layers", u(spec.n_layers)});
        out.push_back({at + "d_model", u(spec.d)});
        out.push_back({at + "n_heads", u(spec.n_heads)});
        out.push_back({at + "ffn_dim", u(spec.d_ff)});
        out.push_back({at + "activation", std::string("gelu")});
    }
    std::string s = "stt.whisper.", f = "stt.frontend.", t = "tokenizer.ggml.";
    out.push_back({s + "encoder.num_mel_bins", u(c.n_mels)});
    out.push_back({s + "encoder.max_source_positions", u(c.n_audio_ctx)});
    out.push_back({s + "decoder.max_target_positions", u(c.n_text_ctx)});
    out.push_back({s + "decoder.vocab_size", u(c.n_vocab)});
    out.push_back({s + "decoder_start_token_id", u(n_text_tokens + 1)});
    out.push_back({s + "no_timestamps_token_id", u(n_text_tokens + 9)});
    out.push_back({f + "type", std::string("mel")});
    out.push_back({f + "num_mels", u(c.n_mels)});
    out.push_back({f + "sample_rate", u(16000)});
    out.push_back({f + "n_fft", u(400)});
    out.push_back({f + "win_length", u(400)});
    out.push_back({f + "hop_length", u(160)});
    out.push_back({"general.languages", std::vector<std::string>{"en", "de"}});
    std::vector<std::int32_t> types(static_cast<size_t>(n_text_tokens), 1);
    types.resize(static_cast<size_t>(c.n_vocab), 3);
    out.push_back({t + "tokens", pieces()});
    out.push_back({t + "token_type", types});
    return out;
}

// Random weights for every tensor that binding asks for; norms near one, the rest near zero.
void write_twin(const std::string& path) {
    whisper::NetConfig c = sizes();
    Weights dry(nullptr);
    whisper::Net net;
    net.bind(dry.root(), c);
    dry.host_copy("frontend.mel_filterbank", {201, c.n_mels});
    dry.host_copy("frontend.window", {400});
    std::vector<GgufTensorInfo> infos;
    for (const TensorSpec& spec : dry.schema()) {
        infos.push_back({spec.name, Dtype::f32, {spec.shape.ne.begin(), spec.shape.ne.end()}});
    }
    auto writer = GgufWriter::create(path, keys(c), infos);
    ASSERT_TRUE(writer) << writer.error().what;
    std::mt19937 random(7);
    for (const TensorSpec& spec : dry.schema()) {
        bool gain = spec.name.find("norm") != std::string::npos && spec.name.ends_with("weight");
        std::normal_distribution<float> draw(gain ? 1.0f : 0.0f, 0.3f);
        std::vector<float> values(static_cast<size_t>(spec.shape.elements()));
        for (float& v : values) v = draw(random);
        ASSERT_TRUE(writer->write(std::as_bytes(std::span(values))));
    }
    ASSERT_TRUE(writer->finish());
}

class WhisperSelf : public ::testing::Test {
  protected:
    static void SetUpTestSuite() {
        std::string path = test::tmp_folder() + "/whisper_self.gguf";
        write_twin(path);
        model_ = load_whisper(path);
    }
    static void TearDownTestSuite() { model_.reset(); }

    static std::vector<float> mels(int n_windows, unsigned seed = 1) {
        std::mt19937 random(seed);
        std::normal_distribution<float> draw(0.0f, 1.0f);
        auto n = static_cast<size_t>(n_windows * model_->config().n_frames() * 16);
        std::vector<float> out(n);
        for (float& v : out) v = draw(random);
        return out;
    }

    static whisper::Prompt prompt(std::vector<int> context) {
        const SpecialTokens& ids = model_->config().ids;
        whisper::Prompt p;
        if (!context.empty()) p.tokens = {ids.sot_prev};
        p.tokens.insert(p.tokens.end(), context.begin(), context.end());
        p.sot_at = static_cast<int>(p.tokens.size());
        for (int id : {ids.sot, ids.languages[1], ids.transcribe}) p.tokens.push_back(id);
        return p;
    }

    // Logits [V] of the last of `tokens`, fed in pieces of at most n.
    static std::vector<float> logits(Bench& bench, const KvCache& self, const KvCache& memory,
                                     const std::vector<int>& tokens, size_t n) {
        StepFeed feed(1);
        feed.begin(0, 0);
        std::vector<float> out;
        for (size_t at = 0; at < tokens.size(); at += n) {
            std::vector<std::vector<int>> piece(1);
            piece[0].assign(tokens.begin() + static_cast<long>(at),
                            tokens.begin() + static_cast<long>(std::min(at + n, tokens.size())));
            Graph& g = bench.compute->begin();
            StepInputs in = StepInputs::declare(g, {static_cast<int>(piece[0].size()), 1, 64, 1});
            Tensor y = g.keep(model_->net().dec(in, {self, {0, 1}, memory, {0, 1}}));
            feed.set(in.shape, piece, 0);
            EXPECT_TRUE(feed.run(*bench.compute, in));
            feed.advance();
            auto values = bench.compute->values(y);
            out.assign(values.begin(), values.end());
        }
        return out;
    }

    static inline std::shared_ptr<const whisper::WhisperModel> model_;
};

TEST_F(WhisperSelf, StepByStepIsPromptAndFlashIsPlain) {
    Bench bench(*model_, 1);
    KvCache::Sizes s{2, 48, 64, 1, Dtype::f32};
    KvCache self = *KvCache::make(*bench.compute, s);
    s.n_ctx = 20;
    KvCache memory = *KvCache::make(*bench.compute, s);
    Graph& g = bench.compute->begin();
    Tensor mel = g.input("mel", Dtype::f32, {16, 40, 1});
    model_->net().dec.remember(model_->net().enc(mel), memory, {0, 1});
    ASSERT_TRUE(bench.compute->run({{mel, mels(1)}}));
    std::vector<int> tokens;
    for (int i = 0; i < 40; i++) tokens.push_back((i * 37 + 11) % n_text_tokens);
    std::vector<float> whole = logits(bench, self, memory, tokens, 40);
    for (size_t n : {1u, 7u}) {
        EXPECT_LE(nmse(logits(bench, self, memory, tokens, n), whole), nmse_f32_max) << n;
    }
    bench.compute->flash = false;
    EXPECT_LE(nmse(logits(bench, self, memory, tokens, 40), whole), nmse_f32_max);
    EXPECT_LE(nmse(logits(bench, self, memory, tokens, 1), whole), nmse_f32_max);
}

class WhisperBatch : public WhisperSelf, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(GreedyAndBeam, WhisperBatch, testing::Values(1, 4));

TEST_P(WhisperBatch, IsSingle) {
    int n_rows = GetParam();
    std::vector<whisper::Prompt> prompts = {prompt({}), prompt({5, 9, 200, 31, 77}), prompt({42})};
    WhisperRules rule = rules_of(model_->config(), true);
    Bench bench(*model_, 3);
    std::vector<float> all = mels(3);
    size_t n = all.size() / 3;
    auto window = [&](size_t i) {
        return std::vector<float>(all.begin() + static_cast<long>(i * n),
                                  all.begin() + static_cast<long>((i + 1) * n));
    };
    for (size_t i = 0; i < 3; i++) {
        ASSERT_TRUE(bench.decoder->encode(window(i), static_cast<int>(i)));
    }
    auto batch = bench.decode(prompts, rule, n_rows);
    bool differ = false;
    for (size_t i = 0; i < 3; i++) {
        Bench single(*model_, 1);
        ASSERT_TRUE(single.decoder->encode(window(i), 0));
        auto alone = single.decode({prompts[i]}, rule, n_rows).at(0);
        EXPECT_EQ(batch[i].tokens, alone.tokens);
        EXPECT_NEAR(batch[i].avg_logprob, alone.avg_logprob, 1e-4);
        differ = differ || alone.tokens != batch[0].tokens;
    }
    EXPECT_TRUE(differ) << "rows of different windows say the same: the twin proves nothing";
}

TEST_F(WhisperSelf, ObservedIsUnobserved) {
    WhisperRules rule = rules_of(model_->config(), true);
    Bench bench(*model_, 1);
    ASSERT_TRUE(bench.decoder->encode(mels(1), 0));
    auto plain = bench.decode({prompt({})}, rule).at(0);
    Recorder recorder;
    bench.compute->observe(&recorder);
    ASSERT_TRUE(bench.decoder->encode(mels(1), 0));
    auto observed = bench.decode({prompt({})}, rule).at(0);
    EXPECT_EQ(plain.tokens, observed.tokens);
    EXPECT_TRUE(recorder.taps.contains("dec.logits"));
}

TEST_F(WhisperSelf, SessionsAtOnceAreOne) {
    auto run = [&](unsigned seed, std::vector<whisper::WindowText>& out) {
        WhisperRules rule = rules_of(model_->config(), true);
        Bench bench(*model_, 1);
        for (unsigned i = 0; i < 5; i++) {
            ASSERT_TRUE(bench.decoder->encode(mels(1, seed + i), 0));
            out.push_back(bench.decode({prompt({})}, rule).at(0));
        }
    };
    std::vector<std::vector<whisper::WindowText>> serial(3), at_once(3);
    for (unsigned i = 0; i < 3; i++) run(10 * i, serial[i]);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 3; i++) threads.emplace_back(run, 10 * i, std::ref(at_once[i]));
    for (std::thread& t : threads) t.join();
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < 5; k++) {
            EXPECT_EQ(serial[i][k].tokens, at_once[i][k].tokens);
            EXPECT_EQ(serial[i][k].avg_logprob, at_once[i][k].avg_logprob);  // to the last bit
        }
    }
}

TEST_F(WhisperSelf, CancelledRunSaysAborted) {
    Bench bench(*model_, 1);
    bench.compute->cancelled() = true;
    Status status = bench.decoder->encode(mels(1), 0);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, Code::aborted);
}

}  // namespace

}  // namespace transcribe::test
