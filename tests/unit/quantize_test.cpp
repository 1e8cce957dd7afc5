// Model files into other types: each tensor as ggml's own quantizer has it, everything else kept.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include <ggml.h>

#include "convert/convert.h"
#include "convert/dtype_policy.h"
#include "convert/gguf_writer.h"
#include "model_files.h"
#include "tensor/gguf.h"

namespace transcribe {
namespace {

using namespace test;

struct Stored {
    std::string name;
    Dtype dtype;
    std::vector<i64> shape;  // fastest first
    std::vector<float> values;
};

std::vector<float> random_values(const std::vector<i64>& shape, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> draw(0.0f, 0.3f);
    size_t n = 1;
    for (i64 dim : shape) n *= static_cast<size_t>(dim);
    std::vector<float> out(n);
    for (float& v : out) v = draw(random);
    return out;
}

// As ggml quantizes all rows in one call; F32 for F32.
std::string by_ggml(Dtype dtype, const std::vector<float>& values, i64 n_per_row) {
    i64 n_rows = static_cast<i64>(values.size()) / n_per_row;
    std::string out(static_cast<size_t>(n_rows) * row_bytes(dtype, n_per_row), '\0');
    ggml_quantize_chunk(static_cast<ggml_type>(dtype), values.data(), out.data(), 0, n_rows,
                        n_per_row, nullptr);
    return out;
}

std::string bytes_of(const GgufTensor& tensor) {
    return {reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size()};
}

// One tensor of each kind. The embedding is longer than what is held in memory at once.
std::vector<Stored> one_of_each() {
    std::vector<Stored> out = {
        {"dec.token_embd.weight", Dtype::f16, {512, 2100}, {}},
        {"dec.blocks.0.self_attn.q.weight", Dtype::f32, {512, 96}, {}},
        {"dec.blocks.0.self_attn.out.weight", Dtype::bf16, {512, 64}, {}},
        {"dec.blocks.0.ffn.fc1.weight", Dtype::f16, {384, 40}, {}},
        {"dec.blocks.0.ffn.fc2.weight", Dtype::f16, {48, 40}, {}},
        {"dec.blocks.0.ffn.fc2.bias", Dtype::f32, {40}, {}},
        {"dec.blocks.0.norm_ffn.weight", Dtype::f32, {512}, {}},
        {"enc.conv.0.weight", Dtype::f16, {3, 80, 16}, {}},
        {"enc.blocks.0.conv.pointwise1.weight", Dtype::f32, {1, 64, 32}, {}},
        {"enc.pos_emb.weight", Dtype::f32, {512, 20}, {}},
    };
    unsigned seed = 1;
    for (Stored& t : out) {
        t.values = random_values(t.shape, seed++);
        std::string raw = by_ggml(t.dtype, t.values, t.shape[0]);
        to_f32(t.dtype, raw.data(), t.values.data(), static_cast<i64>(t.values.size()));
    }
    return out;
}

void write(const std::string& path, const std::vector<Stored>& tensors,
           std::vector<GgufKey> keys = {}) {
    keys.insert(keys.begin(), {"general.architecture", std::string("whisper")});
    std::vector<GgufTensorInfo> infos;
    for (const Stored& t : tensors) infos.push_back({t.name, t.dtype, t.shape});
    auto writer = GgufWriter::create(path, keys, infos);
    ASSERT_TRUE(writer) << writer.error().what;
    for (const Stored& t : tensors) {
        std::string raw = by_ggml(t.dtype, t.values, t.shape[0]);
        ASSERT_TRUE(writer->write(std::as_bytes(std::span(raw))));
    }
    ASSERT_TRUE(writer->finish());
}

ConvertReport quantized(const std::string& in, const std::string& out, Dtype type) {
    auto report = convert(in, out, {.type = type, .name = {}, .on_progress = {}});
    EXPECT_TRUE(report) << report.error().what;
    return report ? *report : ConvertReport();
}

std::shared_ptr<const Gguf> opened(const std::string& path) {
    auto file = Gguf::open(path);
    EXPECT_TRUE(file) << file.error().what;
    return *file;
}

std::string refused(const std::string& in, const std::string& out, Dtype type) {
    auto report = convert(in, out, {.type = type, .name = {}, .on_progress = {}});
    EXPECT_FALSE(std::filesystem::exists(out));
    auto folder = std::filesystem::path(out).parent_path();
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        EXPECT_NE(entry.path().extension(), ".part") << "a temporary file stayed";
    }
    return report ? "quantized" : report.error().what;
}

class Quantize : public ::testing::TestWithParam<FileType> {};

TEST_P(Quantize, EachTensorIsAsGgmlsOwnQuantizerHasIt) {
    std::string folder = fresh_folder();
    std::vector<Stored> tensors = one_of_each();
    write(folder + "/in.gguf", tensors);
    ConvertReport report = quantized(folder + "/in.gguf", folder + "/out.gguf", GetParam().dtype);
    EXPECT_EQ(report.type, GetParam().name);
    auto file = opened(folder + "/out.gguf");
    EXPECT_EQ(std::get<i64>(file->values().at("general.file_type")), GetParam().number);
    ASSERT_EQ(report.tensors.size(), tensors.size());
    for (size_t i = 0; i < tensors.size(); i++) {
        const Stored& t = tensors[i];
        const GgufTensor* stored = file->find(t.name);
        ASSERT_TRUE(stored) << t.name;
        EXPECT_EQ(stored->dtype, stored_dtype(t.name, t.shape, GetParam().dtype)) << t.name;
        EXPECT_EQ(stored->shape, t.shape) << t.name;
        std::string wanted = by_ggml(stored->dtype, t.values, t.shape[0]);
        EXPECT_TRUE(bytes_of(*stored) == wanted) << t.name;

        std::vector<float> back(t.values.size());
        to_f32(stored->dtype, wanted.data(), back.data(), static_cast<i64>(back.size()));
        double error = 0, power = 0;
        for (size_t k = 0; k < back.size(); k++) {
            error += std::pow(static_cast<double>(back[k]) - t.values[k], 2);
            power += std::pow(static_cast<double>(t.values[k]), 2);
        }
        EXPECT_NEAR(report.tensors[i].error, std::sqrt(error / power), 1e-9) << t.name;
        EXPECT_EQ(report.tensors[i].n_bytes, wanted.size()) << t.name;
        EXPECT_EQ(report.tensors[i].from, t.dtype) << t.name;
    }
}

INSTANTIATE_TEST_SUITE_P(Types, Quantize, ::testing::ValuesIn(file_types()),
                         [](const auto& type) { return std::string(type.param.name); });

TEST(QuantizeFile, ErrorsGrowAsBitsGoAway) {
    std::string folder = fresh_folder();
    write(folder + "/in.gguf", one_of_each());
    double last = 0;
    for (Dtype type : {Dtype::f32, Dtype::f16, Dtype::q8_0, Dtype::q6_k, Dtype::q5_k, Dtype::q4_k,
                       Dtype::q4_0}) {
        double error = quantized(folder + "/in.gguf", folder + "/out.gguf", type).error;
        EXPECT_GE(error, last) << dtype_name(type);
        last = error;
    }
    EXPECT_GT(last, 0.05);
    EXPECT_LT(last, 0.15);
}

// Types of keys that our own converter never writes stay as they are too.
TEST(QuantizeFile, KeepsEveryKey) {
    GgufBytes file;
    std::string tokens = text("tokenizer.ggml.tokens") + raw<u32>(kv_list) + raw<u32>(kv_str) +
                         raw<u64>(2) + text("one") + text("ü");
    std::vector<std::string> kept = {key<u8>("u8", kv_u8, 200),
                                     key<u64>("u64", kv_u64, u64{1} << 60),
                                     key<double>("f64", kv_f64, 0.1), key("general.name", "a name"),
                                     key<u8>("flag", kv_bool, 1)};
    file.keys.push_back(tokens);
    file.keys.push_back(key<u32>("general.file_type", kv_u32, 1));
    file.keys.push_back(key<u32>("general.alignment", kv_u32, 64));
    file.keys.insert(file.keys.end(), kept.begin(), kept.end());
    file.tensors = {tensor("a.weight", {32, 2})};
    file.data = std::string(512, '\0');
    std::string folder = fresh_folder();
    write_file(folder + "/in.gguf", file.bytes());
    quantized(folder + "/in.gguf", folder + "/out.gguf", Dtype::q8_0);
    std::string out = read_file(folder + "/out.gguf");
    for (const std::string& k : kept) EXPECT_NE(out.find(k), std::string::npos) << k.substr(8, 8);
    EXPECT_GT(out.find(tokens), out.find(kept[0])) << "lists come last";
    auto written = opened(folder + "/out.gguf");
    EXPECT_EQ(std::get<i64>(written->values().at("general.file_type")), 7);
    EXPECT_FALSE(written->values().contains("general.alignment")) << "it was the source's";
}

TEST(QuantizeFile, OnceOnly) {
    std::string folder = fresh_folder(), q8 = folder + "/q8.gguf";
    std::vector<Stored> tensors = {{"a.weight", Dtype::q8_0, {256, 4}, random_values({256, 4}, 1)},
                                   {"b.weight", Dtype::f32, {256, 4}, random_values({256, 4}, 2)}};
    write(q8, tensors);
    std::string what = refused(q8, folder + "/out.gguf", Dtype::q4_k);
    EXPECT_NE(what.find("1 of its tensors are quantized already (the first is q8_0)"),
              std::string::npos)
        << what;
    quantized(q8, folder + "/same.gguf", Dtype::q8_0);
    EXPECT_TRUE(bytes_of(*opened(folder + "/same.gguf")->find("a.weight")) ==
                bytes_of(*opened(q8)->find("a.weight")));
    ConvertReport wide = quantized(q8, folder + "/wide.gguf", Dtype::f32);
    EXPECT_EQ(wide.tensors[0].to, Dtype::f32);
    EXPECT_EQ(wide.error, 0);
}

TEST(QuantizeFile, WithoutATypeEachTensorKeepsItsOwn) {
    std::string folder = fresh_folder();
    std::vector<Stored> tensors = one_of_each();
    write(folder + "/in.gguf", tensors, {{"general.file_type", std::uint32_t{1}}});
    auto report = convert(folder + "/in.gguf", folder + "/out.gguf");
    ASSERT_TRUE(report) << report.error().what;
    auto in = opened(folder + "/in.gguf"), out = opened(folder + "/out.gguf");
    for (const Stored& t : tensors) {
        EXPECT_EQ(out->find(t.name)->dtype, t.dtype);
        EXPECT_TRUE(bytes_of(*out->find(t.name)) == bytes_of(*in->find(t.name))) << t.name;
    }
    EXPECT_EQ(std::get<i64>(out->values().at("general.file_type")), 1);
}

TEST(QuantizeFile, IdsStayIds) {
    std::string folder = fresh_folder();
    GgufBytes file;
    file.tensors = {tensor("ids.weight", {32, 2}, 26)};
    write_file(folder + "/in.gguf", file.bytes());
    ConvertReport report = quantized(folder + "/in.gguf", folder + "/out.gguf", Dtype::q8_0);
    EXPECT_EQ(report.tensors.at(0).to, Dtype::i32);
}

TEST(QuantizeFile, RefusesValuesThatNoTypeHolds) {
    std::string folder = fresh_folder(), in = folder + "/in.gguf", out = folder + "/out.gguf";
    std::vector<Stored> tensors = {{"a.weight", Dtype::f32, {256, 4}, random_values({256, 4}, 1)}};
    tensors[0].values[700] = std::nanf("");
    write(in, tensors);
    for (Dtype type : {Dtype::f16, Dtype::q8_0, Dtype::q4_k}) {
        EXPECT_NE(refused(in, out, type).find("a.weight holds a value that is not finite"),
                  std::string::npos);
    }
    tensors[0].values[700] = 1e6f;
    write(in, tensors);
    EXPECT_NE(refused(in, out, Dtype::f16).find("a.weight holds a value too large for f16"),
              std::string::npos);
    tensors[0].values[700] = 1e38f;
    write(in, tensors);
    EXPECT_NE(refused(in, out, Dtype::q8_0).find("too large for q8_0"), std::string::npos);
}

TEST(QuantizeFile, KnowsTheKindsOfBothFamiliesTensors) {
    for (auto [name, bucket] : {
             std::pair{"dec.token_embd.weight", Bucket::embedding},
             {"enc.blocks.31.attn.q.weight", Bucket::linear},
             {"enc.blocks.31.attn.out.weight", Bucket::attention_output},
             {"dec.blocks.0.cross_attn.out.weight", Bucket::attention_output},
             {"enc.blocks.0.attn.linear_out.weight", Bucket::attention_output},
             {"dec.blocks.0.attn.o.weight", Bucket::attention_output},
             {"enc.pre_encode.out.weight", Bucket::linear},
             {"enc.proj.weight", Bucket::linear},
             {"enc.blocks.0.ff1.linear1.weight", Bucket::linear},
             {"enc.conv.1.weight", Bucket::conv},
             {"enc.pre_encode.conv.0.weight", Bucket::conv},
             {"enc.blocks.0.conv.depthwise.weight", Bucket::conv},
             {"enc.blocks.0.conv.pointwise2.weight", Bucket::pointwise_conv},
             {"enc.blocks.0.conv.bn.weight", Bucket::exact},
             {"enc.blocks.0.conv.bn.running_var", Bucket::exact},
             {"enc.blocks.0.attn.pos_bias_u", Bucket::exact},
             {"enc.blocks.0.norm_ff1.weight", Bucket::exact},
             {"dec.blocks.0.attn.q_norm.weight", Bucket::exact},
             {"dec.output_norm.weight", Bucket::exact},
             {"dec.final_norm.weight", Bucket::exact},
             {"dec.blocks.0.ffn.fc1.bias", Bucket::exact},
             {"dec.pos_emb.weight", Bucket::exact},
             {"frontend.mel_filterbank", Bucket::exact},
         }) {
        EXPECT_EQ(bucket_of(name), bucket) << name;
    }
}

TEST(QuantizeFile, KnowsTypesByName) {
    EXPECT_EQ(file_type_named("Q4_K_M")->dtype, Dtype::q4_k);
    EXPECT_EQ(file_type_named("q5_k_m")->number, 17u);
    EXPECT_EQ(file_type_named("bf16")->number, 32u);
    EXPECT_EQ(file_type_named("q4_k"), nullptr) << "not a mix, and no file is asked in it";
    EXPECT_EQ(file_type_named("i32"), nullptr);
}

}  // namespace
}  // namespace transcribe
