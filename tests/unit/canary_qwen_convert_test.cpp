// The converter on the committed tiny Canary-Qwen: what it makes of it, and each change of it that
// is refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "convert/canary_qwen.h"
#include "convert/convert.h"
#include "convert/dtype_policy.h"
#include "convert/json.h"
#include "convert/safetensors.h"
#include "model_files.h"
#include "tensor/gguf.h"

namespace transcribe {
namespace {

using namespace test;

const std::string twin = std::string(TESTS_DIR) + "/twins/data/canary-qwen";

class CanaryQwenConvert : public ::testing::Test {
  protected:
    void SetUp() override { restore(); }

    void restore() {
        std::filesystem::remove_all(source_);
        std::filesystem::copy(twin, source_, std::filesystem::copy_options::recursive);
    }

    std::string outcome(const ConvertOptions& options = {}) {
        auto report = convert(source_, out_, options);
        return report ? "converted" : report.error().what;
    }

    // The source, as it was changed, is refused and says so; then it is whole again.
    void refused(const std::string& says) {
        std::string what = outcome();
        EXPECT_NE(what.find(says), std::string::npos) << says << " in: " << what;
        EXPECT_FALSE(std::filesystem::exists(out_)) << says;
        restore();
    }

    // `pointer`: "/perception/encoder/d_model".
    void change(const std::string& file, const std::string& pointer, const Json& value) {
        std::string path = source_ + "/" + file;
        Json json = Json::parse(read_file(path));
        json[Json::json_pointer(pointer)] = value;
        write_file(path, json.dump());
    }

    // Replaces text in the header of the tensors, by as many bytes.
    void change_tensors(const std::string& from, const std::string& to) {
        ASSERT_EQ(from.size(), to.size());
        std::string path = source_ + "/model.safetensors", bytes = read_file(path);
        size_t at = bytes.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        write_file(path, bytes.replace(at, from.size(), to));
    }

    const std::string folder_ = fresh_folder(), source_ = folder_ + "/canary",
                      out_ = folder_ + "/out.gguf";
};

TEST_F(CanaryQwenConvert, WritesTheSchema) {
    ASSERT_EQ(outcome(), "converted");
    auto file = *Gguf::open(out_);
    EXPECT_EQ(file->tensors().size(), 2u + 12 + 39 * 2 + 2 + 2 + 11 * 1);
    EXPECT_EQ(file->find("enc.blocks.1.attn.linear_q.weight")->dtype, Dtype::bf16);
    EXPECT_EQ(file->find("enc.blocks.1.conv.pointwise1.weight")->dtype, Dtype::f16);
    EXPECT_EQ(file->find("enc.blocks.1.attn.pos_bias_u")->dtype, Dtype::f32);
    EXPECT_EQ(file->find("frontend.mel_filterbank")->shape, (std::vector<i64>{257, 128}));
    Problems problems;
    KvReader kv(*file, problems);
    EXPECT_EQ(kv.str("general.architecture"), "canary_qwen");
    EXPECT_EQ(kv.str("stt.frontend.pad_mode"), "constant");
    EXPECT_EQ(kv.i32("stt.canary_qwen.encoder.n_heads", 1, 9), 2);
    EXPECT_EQ(kv.f32_or("stt.canary_qwen.decoder.rope_theta", 0), 1e6f);
    auto tokens = kv.strs("tokenizer.ggml.tokens");
    auto types = kv.ints("tokenizer.ggml.token_type");
    auto audio = static_cast<size_t>(kv.i32("stt.canary_qwen.perception.audio_locator_id", 0, 999));
    ASSERT_EQ(tokens.size(), 288u);
    EXPECT_EQ(tokens[audio], "<|audioplaceholder|>");
    EXPECT_EQ(types[audio], 3);
    EXPECT_EQ(tokens[audio - 1], "<think>");  // the last of the source
    EXPECT_EQ(tokens[audio - 2], "<|fim_middle|>");
    EXPECT_EQ(types[audio - 2], 4) << "not special, whatever it looks like";
    EXPECT_EQ(tokens[audio + 1], fmt::format("<|unused_{}|>", audio + 1));
    auto end = static_cast<size_t>(kv.i32("tokenizer.ggml.eos_token_id", 0, 999));
    EXPECT_EQ(tokens[end], "<|im_end|>");
    EXPECT_EQ(kv.strs("tokenizer.ggml.merges").size(), 8u);
    EXPECT_EQ(kv.str("tokenizer.chat_template"), "{{ messages }}");
    EXPECT_TRUE(problems.empty()) << problems.done(Code::bad_model, "").error().what;
}

TEST_F(CanaryQwenConvert, MergesTheThinMatrices) {
    ConvertOptions options;
    options.type = Dtype::f32;
    ASSERT_EQ(outcome(options), "converted");
    Checkpoint from;
    ASSERT_TRUE(read_safetensors(source_ + "/model.safetensors", from));
    auto floats = [&](const std::string& leaf) {
        const SourceTensor& t =
            *from.find("llm.base_model.model.model.layers.0.self_attn.v_proj." + leaf + ".weight");
        std::vector<float> out(static_cast<size_t>(t.n_elements()));
        t.read(0, out);
        return out;
    };
    auto base = floats("base_layer"), a = floats("lora_A.default"), b = floats("lora_B.default");
    auto file = *Gguf::open(out_);
    const GgufTensor& merged = *file->find("dec.blocks.0.attn.v.weight");
    constexpr size_t n_in = 24, rank = 2;
    ASSERT_EQ(merged.data.size(), base.size() * sizeof(float));
    std::vector<float> values(base.size());
    to_f32(Dtype::f32, merged.data.data(), values.data(), static_cast<i64>(values.size()));
    for (size_t i = 0; i < base.size(); i++) {
        double want = base[i];
        for (size_t r = 0; r < rank; r++) {
            want += 2.0 * b[i / n_in * rank + r] * a[r * n_in + i % n_in];
        }
        ASSERT_NEAR(values[i], want, 1e-6) << i;
    }
}

TEST_F(CanaryQwenConvert, QuantizesEachKindAsItBears) {
    ConvertOptions options;
    options.type = Dtype::q8_0;
    ASSERT_EQ(outcome(options), "converted");
    auto file = *Gguf::open(out_);
    auto dtype = [&](const char* name) { return file->find(name)->dtype; };
    EXPECT_EQ(dtype("enc.pre_encode.out.weight"), Dtype::q8_0);
    EXPECT_EQ(dtype("enc.blocks.0.ff1.linear2.weight"), Dtype::q8_0);
    EXPECT_EQ(dtype("enc.blocks.0.ff1.linear1.weight"), Dtype::f16);  // 16 fill no block
    EXPECT_EQ(dtype("enc.blocks.0.conv.pointwise1.weight"), Dtype::f16);
    EXPECT_EQ(dtype("enc.blocks.0.conv.depthwise.weight"), Dtype::f32);
    EXPECT_EQ(dtype("enc.pre_encode.conv.3.weight"), Dtype::f32);
    EXPECT_EQ(dtype("enc.blocks.0.conv.bn.weight"), Dtype::f32);
    EXPECT_EQ(dtype("enc.blocks.0.attn.pos_bias_v"), Dtype::f32);
    EXPECT_EQ(dtype("dec.blocks.0.attn.q_norm.weight"), Dtype::f32);
    EXPECT_EQ(dtype("dec.blocks.0.attn.o.weight"), Dtype::q8_0);
    for (const char* output : {"enc.blocks.0.attn.linear_out.weight", "dec.blocks.0.attn.o.weight"})
        EXPECT_EQ(bucket_of(output), Bucket::attention_output) << output;
}

TEST_F(CanaryQwenConvert, FindsTheLanguageModelWhereItIsTold) {
    std::filesystem::rename(source_ + "/llm_backbone", folder_ + "/qwen");
    std::string what = outcome();
    EXPECT_NE(what.find("--lm"), std::string::npos) << what;
    ConvertOptions options;
    options.lm_directory = folder_ + "/qwen";
    EXPECT_EQ(outcome(options), "converted");
}

TEST_F(CanaryQwenConvert, TakesTheTokenizerInParts) {
    ASSERT_EQ(outcome(), "converted");
    std::string whole = read_file(out_), lm = source_ + "/llm_backbone";
    Json tokenizer = Json::parse(read_file(lm + "/tokenizer.json")), added = Json::object();
    std::string merges = "#version: 0.2\n";
    for (const Json& merge : tokenizer["model"]["merges"]) {
        merges += merge[0].get<std::string>() + " " + merge[1].get<std::string>() + "\n";
    }
    for (const Json& token : tokenizer["added_tokens"]) {
        added[std::to_string(token["id"].get<int>())] = token;
    }
    write_file(lm + "/vocab.json", tokenizer["model"]["vocab"].dump());
    write_file(lm + "/merges.txt", merges);
    change("llm_backbone/tokenizer_config.json", "/added_tokens_decoder", added);
    std::filesystem::remove(lm + "/tokenizer.json");
    ASSERT_EQ(outcome(), "converted");
    EXPECT_TRUE(read_file(out_) == whole);
    added["x"] = added["264"];
    change("llm_backbone/tokenizer_config.json", "/added_tokens_decoder", added);
    EXPECT_NE(outcome().find("an added token lacks its id"), std::string::npos);
}

TEST_F(CanaryQwenConvert, RefusesOtherTensors) {
    change_tensors("layers.1.norm_out.bias", "layers.1.norm_out.bios");
    refused("the tensor perception.encoder.layers.1.norm_out.bias is missing");
    change_tensors("layers.1.norm_out.bias", "layers.1.norm_out.bios");
    refused("layers.1.norm_out.bios is not one of Canary-Qwen's");
    change_tensors("[24,16]", "[16,24]");
    refused("the tensor perception.proj.weight is [16, 24], not [24, 16]");
    change_tensors("lora_B.default", "lora_C.default");
    refused("lora_B.default.weight is missing");
    change("config.json", "/lora", nullptr);
    refused("needs lora in config.json");
    change("config.json", "/lora/r", 0);
    refused("r in lora is not an integer from 1");
}

TEST_F(CanaryQwenConvert, RefusesVariants) {
    struct Change {
        const char *file, *pointer;
        Json value;
        const char* says;
    };
    const char *own = "config.json", *lm = "llm_backbone/config.json";
    const Change changes[] = {
        {own, "/perception/encoder/d_model", 24, "not [24]"},
        {own, "/perception/encoder/n_layers", 0, "n_layers in perception.encoder"},
        {own, "/perception/encoder/n_layers", 3, "layers.2.norm_feed_forward1.weight is missing"},
        {own, "/perception/encoder/subsampling_factor", 4, "subsampling_factor is not 8"},
        {own, "/perception/encoder/conv_kernel_size", 6, "conv_kernel_size is not an odd number"},
        {own, "/perception/encoder/xscaling", true, "xscaling is not false"},
        {own, "/perception/encoder/self_attention_model", "abs_pos", "is not rel_pos"},
        {own, "/perception/encoder/att_context_size", {64, 0}, "att_context_size is not [-1, -1]"},
        {own, "/perception/preprocessor/features", 80, "features is not 128"},
        {own, "/perception/preprocessor/normalize", "NA", "normalize is not per_feature"},
        {own, "/perception/modality_adapter/_target_", "x.QformerConnector", "IdentityConnector"},
        {own, "/prompt_format", "llama3", "prompt_format is not qwen"},
        {lm, "/model_type", "llama", "is not a Qwen3"},
        {lm, "/rope_theta", nullptr, "rope_theta is missing"},
        {lm, "/rope_scaling", {{"factor", 4}}, "scaled rotary positions"},
        {lm, "/num_key_value_heads", 3, "not a multiple of num_key_value_heads"},
        {lm, "/tie_word_embeddings", false, "is not its embedding"},
        {lm, "/vocab_size", 200, "the embedding has 200 rows"},
        {lm, "/hidden_size", "wide", "hidden_size in the language model's config.json"},
    };
    for (const Change& c : changes) {
        change(c.file, c.pointer, c.value);
        refused(c.says);
    }
    change("llm_backbone/tokenizer_config.json", "/eos_token", "<|end|>");
    refused("no token is <|end|>");
    std::filesystem::remove(source_ + "/llm_backbone/tokenizer.json");
    refused("no tokenizer.json");
}

// transformers 5 writes it one level down.
TEST_F(CanaryQwenConvert, FindsTheBaseOfRotationInBothPlaces) {
    change("llm_backbone/config.json", "/rope_theta", nullptr);
    change("llm_backbone/config.json", "/rope_parameters",
           {{"rope_theta", 5e5}, {"rope_type", "default"}});
    ASSERT_EQ(outcome(), "converted");
    auto file = *Gguf::open(out_);
    Problems problems;
    EXPECT_EQ(KvReader(*file, problems).f32_or("stt.canary_qwen.decoder.rope_theta", 0), 5e5f);
}

}  // namespace
}  // namespace transcribe
