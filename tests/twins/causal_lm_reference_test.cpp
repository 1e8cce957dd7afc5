// The causal language model alone: tiny random ones of the Llama and Qwen lineage, and what
// transformers computes with them (data/causal_lm, made by tools/make_lm_twin.py). Weights are
// held in F32 and in BF16, which has the same values.
#include <fstream>

#include <nlohmann/json.hpp>

#include "../tmp.h"
#include "blocks/lm_session.h"
#include "convert/gguf_writer.h"
#include "convert/safetensors.h"
#include "decode/pick.h"
#include "watch.h"

namespace transcribe::test {

namespace {

using Prompts = std::vector<std::vector<int>>;

CausalLmSpec spec_of(const nlohmann::json& facts) {
    CausalLmSpec spec;
    spec.n_layers = facts["n_layers"];
    spec.n_heads = facts["n_heads"];
    spec.n_kv_heads = facts["n_kv_heads"];
    spec.d = facts["d"];
    spec.d_head = facts["d_head"];
    spec.d_ff = facts["d_ff"];
    spec.n_vocab = facts["n_vocab"];
    spec.rope_theta = facts["rope_theta"];
    spec.qk_norm = facts["qk_norm"];
    spec.tied = facts["tied"];
    return spec;
}

std::vector<float> values_of(const SourceTensor& t) {
    std::vector<float> out(static_cast<size_t>(t.n_elements()));
    t.read(0, out);
    return out;
}

// The weights of a checkpoint as a model file, matrices in `dtype`, those that end the feed-forward
// halves times `down`.
std::shared_ptr<const Gguf> gguf_of(const Checkpoint& checkpoint, Dtype dtype,
                                    const std::string& path, float down = 1) {
    std::vector<GgufTensorInfo> infos;
    for (const auto& [name, t] : checkpoint.tensors) {
        if (name.starts_with("golden.")) continue;
        bool matrix = t.shape.size() > 1;
        infos.push_back({name, matrix ? dtype : Dtype::f32, {t.shape.rbegin(), t.shape.rend()}});
    }
    auto writer = GgufWriter::create(path, {{"general.architecture", std::string("test")}}, infos);
    EXPECT_TRUE(writer) << writer.error().what;
    for (const GgufTensorInfo& info : infos) {
        std::vector<float> values = values_of(*checkpoint.find(info.name));
        if (info.name.ends_with("ffn.down.weight")) {
            for (float& value : values) value *= down;
        }
        std::vector<std::byte> raw(info.n_bytes());
        from_f32(info.dtype, values.data(), raw.data(), i64(values.size()) / info.shape[0],
                 info.shape[0]);
        EXPECT_TRUE(writer->write(raw));
    }
    EXPECT_TRUE(writer->finish());
    return *Gguf::open(path);
}

struct Case {
    const char* name;
    Dtype dtype;
};

class CausalLmReference : public ::testing::TestWithParam<Case> {
  protected:
    void SetUp() override {
        std::string name = GetParam().name, data = TESTS_DIR "/twins/data/causal_lm/" + name;
        std::ifstream(data + ".json") >> facts_;
        ASSERT_TRUE(read_safetensors(data + ".safetensors", arrays_));
        std::string type(dtype_name(GetParam().dtype));
        weights_ = std::make_unique<Weights>(
            gguf_of(arrays_, GetParam().dtype, tmp_folder() + "/" + name + type + ".gguf"));
        lm_.bind(weights_->root() / "dec", spec_of(facts_));
        Status status = weights_->finish(Device::cpu());
        ASSERT_TRUE(status) << status.error().what;
        EXPECT_TRUE(weights_->unused().empty());
        compute_ = *Compute::make(Device::cpu(), *Lanes::make(1, 2));
        lease_ = std::make_unique<Compute::Lease>(*compute_);
    }

    std::vector<float> golden(const std::string& name) const {
        return values_of(*arrays_.find("golden." + name));
    }
    Prompts prompts() const { return facts_["prompts"]; }

    // Logits [V, n] of every one of `tokens`, read `n_at_once` at a time.
    std::vector<float> logits(const std::vector<int>& tokens, size_t n_at_once) {
        const CausalLmSpec& c = lm_.spec;
        auto cache = KvCache::make(*compute_, {c.n_layers, c.d_kv(), 32, 1, Dtype::f32});
        StepFeed feed(1);
        feed.begin(0, 0);
        std::vector<float> out;
        for (size_t at = 0; at < tokens.size(); at += n_at_once) {
            size_t n = std::min(n_at_once, tokens.size() - at);
            Prompts piece{{tokens.begin() + i64(at), tokens.begin() + i64(at + n)}};
            Graph& g = compute_->begin();
            int n_tokens = static_cast<int>(n);
            StepInputs in = StepInputs::declare(g, {n_tokens, 1, 32, n_tokens + 1});
            Tensor y = g.keep(lm_(lm_.embed(in.ids), in, *cache, {0, 1}));
            feed.set(in.shape, piece, 0);
            for (int i = 0; i < n_tokens; i++) feed.pick(0, i);
            EXPECT_TRUE(feed.run(*compute_, in));
            feed.advance();
            auto values = compute_->values(y).subspan(static_cast<size_t>(c.n_vocab));
            out.insert(out.end(), values.begin(), values.end());
        }
        return out;
    }

    // 32 greedy tokens behind each prompt, all side by side.
    Prompts greedy(const Prompts& begin) {
        LmSession session(*compute_, lm_, 64, Dtype::f32);
        std::vector<LmPrompt> read;
        for (const auto& ids : begin) read.push_back({ids, 0, {}});
        auto scores = session.prefill(read);
        auto n_vocab = static_cast<size_t>(lm_.spec.n_vocab);
        Prompts texts(begin.size());
        for (int i = 0; i < 32; i++) {
            EXPECT_TRUE(scores) << scores.error().what;
            std::vector<int> next;
            for (size_t row = 0; row < begin.size(); row++) {
                next.push_back(pick_greedy(scores->subspan(row * n_vocab, n_vocab)).id);
                texts[row].push_back(next[row]);
            }
            scores = session.step(next);
        }
        return texts;
    }

    nlohmann::json facts_;
    Checkpoint arrays_;
    std::unique_ptr<Weights> weights_;
    CausalLm lm_;
    std::unique_ptr<Compute> compute_;
    std::unique_ptr<Compute::Lease> lease_;
};

TEST_P(CausalLmReference, LogitsOfEveryToken) {
    for (size_t i = 0; i < prompts().size(); i++) {
        for (size_t n_at_once : {1u, 3u, 32u}) {
            EXPECT_LE(nmse(logits(prompts()[i], n_at_once), golden("logits." + std::to_string(i))),
                      nmse_f32_max)
                << "prompt " << i << ", " << n_at_once << " at once";
        }
    }
}

TEST_P(CausalLmReference, PlainAttentionIsFlash) {
    compute_->flash = false;
    EXPECT_LE(nmse(logits(prompts()[1], 32), golden("logits.1")), nmse_f32_max);
}

TEST_P(CausalLmReference, FeedForwardIsScaled) {
    std::string path = tmp_folder() + "/scaled.gguf";
    Weights halved(gguf_of(arrays_, GetParam().dtype, path, 0.5f));
    CausalLmSpec spec = spec_of(facts_);
    spec.ffn_scale = 2;
    lm_ = {};
    lm_.bind(halved.root() / "dec", spec);
    ASSERT_TRUE(halved.finish(Device::cpu()));
    EXPECT_LE(nmse(logits(prompts()[1], 32), golden("logits.1")), nmse_f32_max);
}

TEST_P(CausalLmReference, Taps) {
    Recorder recorder;
    compute_->observe(&recorder);
    logits(prompts()[1], 32);
    EXPECT_LE(nmse(recorder.taps["dec.block.0.out"], golden("block.0")), nmse_f32_max);
    // Behind the last attention only what was picked goes on: the last token, then all.
    auto d = static_cast<size_t>(lm_.spec.d);
    EXPECT_LE(nmse(std::span(recorder.taps["dec.ln"]).subspan(d), golden("ln")), nmse_f32_max);
}

TEST_P(CausalLmReference, GreedyTexts) {
    Prompts want = facts_["texts"];
    for (size_t i = 0; i < prompts().size(); i++) {
        EXPECT_EQ(greedy({prompts()[i]}).at(0), want[i]) << "prompt " << i;
    }
}

TEST_P(CausalLmReference, BatchOfUnequalPromptsIsSingles) {
    EXPECT_EQ(greedy(prompts()), Prompts(facts_["texts"]));
}

TEST_P(CausalLmReference, CacheGrowsAndKeepsWhatItHolds) {
    LmSession session(*compute_, lm_, 1000, Dtype::f32);
    Prompts texts = prompts();
    auto n_vocab = static_cast<size_t>(lm_.spec.n_vocab);
    std::vector<LmPrompt> begin{{texts[0], 0, {}}, {texts[1], 0, {}}};
    auto scores = session.prefill(begin);
    for (int i = 0; i < 530; i++) {
        ASSERT_TRUE(scores) << scores.error().what;
        std::vector<int> next;
        for (size_t row = 0; row < 2; row++) {
            next.push_back((i * 7 + static_cast<int>(row)) % lm_.spec.n_vocab);
            texts[row].push_back(next[row]);
        }
        scores = session.step(next);
    }
    ASSERT_TRUE(scores) << scores.error().what;
    const std::vector<float> stepped(scores->begin(), scores->end());
    for (size_t row = 0; row < 2; row++) {
        LmSession alone(*compute_, lm_, 1000, Dtype::f32);
        std::span<const float> own = std::span(stepped).subspan(row * n_vocab, n_vocab);
        std::vector<LmPrompt> whole{{texts[row], 0, {}}};
        EXPECT_LE(nmse(own, *alone.prefill(whole)), nmse_f32_max) << "row " << row;
    }
}

TEST_P(CausalLmReference, EmbeddedRowsStandInForTokens) {
    auto d = static_cast<size_t>(lm_.spec.d);
    std::vector<float> table = values_of(*arrays_.find("dec.token_embd.weight"));
    std::vector<LmPrompt> read;
    std::vector<std::vector<float>> others(prompts().size());
    for (size_t i = 0; i < prompts().size(); i++) {
        LmPrompt prompt{prompts()[i], 1, {}};
        for (size_t at = 1; at < prompt.ids.size() - (i == 1 ? 3 : 0); at++) {
            auto row = table.begin() + i64(static_cast<size_t>(prompt.ids[at]) * d);
            others[i].insert(others[i].end(), row, row + i64(d));
            prompt.ids[at] = 0;
        }
        prompt.others = others[i];
        read.push_back(std::move(prompt));
    }
    LmSession session(*compute_, lm_, 64, Dtype::f32);
    auto scores = session.prefill(read);
    ASSERT_TRUE(scores) << scores.error().what;
    auto n_vocab = static_cast<size_t>(lm_.spec.n_vocab);
    for (size_t i = 0; i < read.size(); i++) {
        std::vector<float> all = golden("logits." + std::to_string(i));
        std::vector<float> last(all.end() - i64(n_vocab), all.end());
        EXPECT_LE(nmse(scores->subspan(i * n_vocab, n_vocab), last), nmse_f32_max) << i;
    }
}

INSTANTIATE_TEST_SUITE_P(Twins, CausalLmReference,
                         ::testing::Values(Case{"qwen3", Dtype::f32}, Case{"llama", Dtype::f32},
                                           Case{"wide-heads", Dtype::f32},
                                           Case{"qwen3", Dtype::bf16}, Case{"llama", Dtype::bf16},
                                           Case{"wide-heads", Dtype::bf16}),
                         [](const auto& of) {
                             std::string name = of.param.name;
                             std::erase(name, '-');
                             return name + "_" + std::string(dtype_name(of.param.dtype));
                         });

}  // namespace

}  // namespace transcribe::test
