// The converter on a Whisper of one layer and 17 tokens, written here in both sources' spelling.
#include "convert/convert.h"

#include <gtest/gtest.h>

#include "convert/alignment_heads.h"
#include "convert/byte_bpe.h"
#include "convert/dtype_policy.h"
#include "convert/gguf_writer.h"
#include "convert/inspect.h"
#include "convert/mel_filters.h"
#include "convert/vocabulary.h"
#include "convert/whisper.h"
#include "model_files.h"
#include "tensor/gguf.h"
#include "text/byte_alphabet.h"
#include "tiny_whisper.h"

namespace transcribe {
namespace {

using namespace test;
using namespace tiny_whisper;

std::string outcome(const std::string& source, const std::string& out) {
    auto report = convert(source, out);
    return report ? "converted" : report.error().what;
}

std::vector<float> values_of(const GgufTensor& tensor) {
    size_t n = 1;
    for (i64 dim : tensor.shape) n *= static_cast<size_t>(dim);
    std::vector<float> out(n);
    to_f32(tensor.dtype, tensor.data.data(), out.data(), static_cast<i64>(n));
    return out;
}

TEST(Convert, BothSourcesGiveTheSameFile) {
    std::string folder = fresh_folder();
    Arrays arrays = hugging_face_arrays();
    write_hugging_face(folder + "/a/tiny", arrays);
    write_ctranslate2(folder + "/b/tiny", arrays);
    ASSERT_EQ(outcome(folder + "/a/tiny", folder + "/a.gguf"), "converted");
    ASSERT_EQ(outcome(folder + "/b/tiny", folder + "/b.gguf"), "converted");
    EXPECT_TRUE(read_file(folder + "/a.gguf") == read_file(folder + "/b.gguf"));
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        EXPECT_NE(entry.path().extension(), ".part") << "a temporary file stayed";
    }
}

TEST(Convert, KeepsValuesShapesAndKeys) {
    std::string folder = fresh_folder();
    Arrays arrays = hugging_face_arrays();
    write_ctranslate2(folder + "/tiny", arrays);
    ASSERT_EQ(outcome(folder + "/tiny", folder + "/out.gguf"), "converted");
    auto file = Gguf::open(folder + "/out.gguf");
    ASSERT_TRUE(file) << file.error().what;
    const Gguf& gguf = **file;
    EXPECT_EQ(gguf.tensors().size(), 2u + 7 + 15 + 4 + 24);
    auto same = [&](const char* ours, const std::string& theirs) {
        ASSERT_TRUE(gguf.find(ours)) << ours;
        EXPECT_EQ(values_of(*gguf.find(ours)), arrays.at(theirs).values) << ours;
    };
    same("enc.conv.0.weight", "model.encoder.conv1.weight");
    same("enc.blocks.0.attn.v.weight", "model.encoder.layers.0.self_attn.v_proj.weight");
    same("enc.blocks.0.attn.v.bias", "model.encoder.layers.0.self_attn.v_proj.bias");
    same("dec.blocks.0.cross_attn.k.weight", "model.decoder.layers.0.encoder_attn.k_proj.weight");
    same("dec.blocks.0.cross_attn.v.bias", "model.decoder.layers.0.encoder_attn.v_proj.bias");
    same("dec.token_embd.weight", "model.decoder.embed_tokens.weight");
    EXPECT_EQ(gguf.find("enc.conv.0.weight")->shape, (std::vector<i64>{3, n_mels, d}));
    EXPECT_EQ(gguf.find("enc.blocks.0.attn.k.bias"), nullptr);
    EXPECT_EQ(gguf.find("frontend.mel_filterbank")->shape, (std::vector<i64>{201, n_mels}));

    Problems problems;
    KvReader kv = KvReader(gguf, problems).at("stt.whisper");
    EXPECT_EQ(kv.i32("encoder.n_heads", 1, 9), 2);
    EXPECT_EQ(kv.i32("no_timestamps_token_id", 0, 99), 13);
    EXPECT_EQ(kv.i32("transcribe_token_id", 0, 99), 9);
    EXPECT_EQ(kv.ints("alignment_heads"), (std::vector<int>{0, 1}));
    EXPECT_EQ(kv.ints("suppress_tokens"), (std::vector<int>{1, 2}));
    KvReader all(gguf, problems);
    EXPECT_EQ(all.str("general.name"), "whisper-tiny");
    EXPECT_EQ(all.strs("general.languages"), (std::vector<std::string>{"en", "de"}));
    EXPECT_TRUE(all.flag_or("stt.capability.translate", false));
    auto tokens = all.strs("tokenizer.ggml.tokens");
    ASSERT_EQ(tokens.size(), static_cast<size_t>(n_vocab));
    EXPECT_EQ(tokens[14], "<|0.00|>");
    EXPECT_EQ(tokens[16], "<|0.04|>");
    EXPECT_EQ(all.ints("tokenizer.ggml.token_type")[16], 3);
    EXPECT_TRUE(problems.empty()) << problems.done(Code::bad_model, "").error().what;
}

TEST(Convert, StoresTheTypeAskedFor) {
    std::string folder = fresh_folder();
    write_hugging_face(folder + "/tiny", hugging_face_arrays());
    ConvertOptions options;
    double progress = 0;
    options.on_progress = [&](double p) {
        EXPECT_GT(p, progress);
        progress = p;
    };
    for (Dtype type : {Dtype::f16, Dtype::bf16, Dtype::q8_0, Dtype::q4_k}) {
        options.type = type, progress = 0;
        std::string out = folder + "/out.gguf";
        auto report = convert(folder + "/tiny", out, options);
        ASSERT_TRUE(report) << report.error().what;
        EXPECT_EQ(progress, 1);
        auto file = Gguf::open(out);
        ASSERT_TRUE(file) << file.error().what;
        Dtype wanted = type == Dtype::q4_k ? Dtype::q8_0 : type;  // a row of 32 fills no K block
        EXPECT_EQ((*file)->find("enc.blocks.0.ffn.fc1.weight")->dtype, wanted);
        EXPECT_EQ((*file)->find("enc.blocks.0.ffn.fc1.bias")->dtype, Dtype::f32);
        EXPECT_EQ((*file)->find("dec.pos_emb.weight")->dtype, Dtype::f32);
    }
    options.type = Dtype::i32;
    EXPECT_FALSE(convert(folder + "/tiny", folder + "/no.gguf", options));
}

// Each change of a good checkpoint, and what the error says.
TEST(Convert, RefusesIncompleteAndForeignCheckpoints) {
    std::string root = fresh_folder(), source = root + "/tiny", out = root + "/out.gguf";
    auto refused = [&](const char* says) {
        std::string what = outcome(source, out);
        EXPECT_NE(what.find(says), std::string::npos) << says << " in: " << what;
        EXPECT_FALSE(std::filesystem::exists(out)) << says;
        write_hugging_face(source, hugging_face_arrays());
    };
    write_hugging_face(source, hugging_face_arrays());
    Arrays arrays = hugging_face_arrays();
    arrays.erase("model.encoder.conv1.bias");
    arrays.erase("model.decoder.layers.0.fc2.weight");
    write_hugging_face(source, arrays);
    refused(
        "model.encoder.conv1.bias is missing; the tensor model.decoder.layers.0.fc2.weight is "
        "missing");
    arrays = hugging_face_arrays();
    add(arrays, "model.adapter.weight", {2});
    write_hugging_face(source, arrays);
    refused("model.adapter.weight is not one of Whisper's");
    arrays = hugging_face_arrays();
    arrays["model.encoder.conv1.bias"].shape = {2, d / 2};
    write_hugging_face(source, arrays);
    refused("conv1.bias is [2, 16], not [32]");
    arrays = hugging_face_arrays();
    add(arrays, "proj_out.weight", {n_vocab, d});
    write_hugging_face(source, arrays);
    refused("proj_out.weight is not the token embedding");

    auto change_config = [&](const char* field, const Json& value) {
        Json config = config_json();
        config[field] = value;
        write_file(source + "/config.json", config.dump());
    };
    change_config("model_type", "wav2vec2");
    refused("a wav2vec2 model");
    change_config("d_model", "wide");
    refused("d_model in config.json is not an integer");
    change_config("encoder_attention_heads", 3);
    refused("not a multiple of 3");
    change_config("activation_function", "relu");
    refused("not gelu");
    change_config("vocab_size", 13);
    refused("not [13, 32]");
    for (const char* name : {"tokenizer.json", "config.json", "model.safetensors"}) {
        std::filesystem::remove(source + "/" + name);
        refused(name);
    }
    write_file(source + "/generation_config.json", R"({"alignment_heads":[[0,2]]})");
    refused("alignment_heads");
    write_file(source + "/generation_config.json", R"({"suppress_tokens":[17]})");
    refused("suppressed token 17");
    write_file(source + "/preprocessor_config.json", R"({"mel_filters":[[1,2],[3]]})");
    refused("mel_filters");
}

TEST(Convert, SaysWhenItCannotWrite) {
    std::string root = fresh_folder();
    write_hugging_face(root + "/tiny", hugging_face_arrays());
    auto report = convert(root + "/tiny", root + "/none/out.gguf");
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, Code::io);
    EXPECT_NE(report.error().what.find("cannot be written"), std::string::npos);
}

TEST(Convert, TakesAVocabularyFromWhicheverFilesThereAre) {
    std::string folder = fresh_folder();
    write_file(folder + "/vocab.json", R"({"a":0,"b":1,"ab":2})");
    write_file(folder + "/merges.txt", "#version: 0.2\na b\n");
    write_file(folder + "/added_tokens.json", R"({"<|endoftext|>":4})");
    auto split = read_vocabulary(folder);
    ASSERT_TRUE(split) << split.error().what;
    split->fill_holes(5);
    EXPECT_EQ(split->tokens,
              (std::vector<std::string>{"a", "b", "ab", "<|unused_3|>", "<|endoftext|>"}));
    EXPECT_EQ(split->types, (std::vector<std::int32_t>{1, 1, 1, 1, 3}));
    write_file(folder + "/vocabulary.txt", "a\nb\nab\n<|endoftext|>\n");
    auto lines = read_vocabulary(folder);
    ASSERT_TRUE(lines) << lines.error().what;
    EXPECT_EQ(lines->tokens.size(), 4u);
    EXPECT_EQ(lines->merges, std::vector<std::string>{"a b"}) << "follow from the order of ids";
    write_file(folder + "/tokenizer.json", R"({"model":{"type":"Unigram","vocab":[]}})");
    EXPECT_NE(read_vocabulary(folder).error().what.find("not BPE"), std::string::npos);
}

TEST(Convert, SpellsBytesAndMergesLowestRankFirst) {
    EXPECT_EQ(piece_of_bytes(" a\n"), "ĠaĊ");
    EXPECT_EQ(piece_of_bytes("\xe9\xad"), "éŃ");
    auto merges = derive_merges({"a", "b", "c", "bc", "abc", "ab"});
    EXPECT_EQ(merges, (std::vector<std::string>{"b c", "a bc", "a b"}));
}

TEST(Convert, MelFiltersEqualTheReference) {
    // Of openai-whisper's mel_filters.npz, mel_80 and mel_128.
    auto f80 = slaney_filters({.n_mels = 80}), f128 = slaney_filters({.n_mels = 128});
    ASSERT_EQ(f80.size(), 201u * 80);
    EXPECT_NEAR(f80[1], 0.0248625949, 1e-8);
    EXPECT_NEAR(f80[40 * 201 + 43], 0.0147355665, 1e-8);
    EXPECT_NEAR(f80[79 * 201 + 196], 0.0017950360, 1e-8);
    EXPECT_NEAR(f128[64 * 201 + 42], 0.0067496826, 1e-8);
    double sum80 = 0, sum128 = 0;
    for (float v : f80) sum80 += v;
    for (float v : f128) sum128 += v;
    EXPECT_NEAR(sum80, 1.99902409, 1e-6);
    EXPECT_NEAR(sum128, 3.19098554, 1e-6);
    auto window = periodic_hann(400);
    EXPECT_EQ(window[0], 0);
    EXPECT_EQ(window[200], 1);
    EXPECT_EQ(window[100], 0.5f);
}

TEST(Convert, ChoosesStoredTypes) {
    auto stored = [](const char* name, i64 n_per_row, Dtype asked) {
        return stored_dtype(name, {n_per_row, 8}, asked);
    };
    EXPECT_EQ(stored("dec.pos_emb.weight", 384, Dtype::f16), Dtype::f32);
    EXPECT_EQ(stored_dtype("unknown.weight", {384}, Dtype::f16), Dtype::f32) << "a vector";
    EXPECT_EQ(stored("enc.conv.0.weight", 3, Dtype::bf16), Dtype::f16);
    EXPECT_EQ(stored("enc.conv.0.weight", 3, Dtype::q8_0), Dtype::f32);
    EXPECT_EQ(stored("a.conv.pointwise1.weight", 1, Dtype::q8_0), Dtype::f16);
    EXPECT_EQ(stored("a.weight", 384, Dtype::bf16), Dtype::bf16);
    EXPECT_EQ(stored("a.weight", 384, Dtype::q4_k), Dtype::q8_0);
    EXPECT_EQ(stored("a.weight", 512, Dtype::q4_k), Dtype::q4_k);
    EXPECT_EQ(stored("a.weight", 48, Dtype::q4_k), Dtype::f16);
    EXPECT_EQ(stored("a.weight", 48, Dtype::q4_0), Dtype::f16);
    EXPECT_EQ(stored("dec.token_embd.weight", 512, Dtype::q5_k), Dtype::q6_k);
    EXPECT_EQ(stored("a.attn.out.weight", 512, Dtype::q5_k), Dtype::q8_0);
    EXPECT_EQ(stored("a.attn.out.weight", 512, Dtype::q6_k), Dtype::q6_k);
}

TEST(GgufWriter, RoundTripsKeysAndTensors) {
    std::string path = fresh_folder() + "/out.gguf";
    std::vector<GgufKey> keys = {{"general.architecture", std::string("test")},
                                 {"flag", true},
                                 {"number", std::uint32_t{4000000000}},
                                 {"below", std::int32_t{-1}},
                                 {"real", 0.5f},
                                 {"ids", std::vector<std::int32_t>{3, -4}},
                                 {"texts", std::vector<std::string>{"x", "ü"}}};
    std::vector<GgufTensorInfo> infos = {{"odd", Dtype::f32, {3, 1}}, {"next", Dtype::f16, {2}}};
    float odd[3] = {1, 2, 3};
    std::uint16_t next[2] = {0x3C00, 0xBC00};
    {
        auto abandoned = GgufWriter::create(path, keys, infos);
        ASSERT_TRUE(abandoned) << abandoned.error().what;
    }
    EXPECT_TRUE(std::filesystem::is_empty(std::filesystem::path(path).parent_path()));
    auto writer = GgufWriter::create(path, keys, infos);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->write(std::as_bytes(std::span(odd).first(1))));
    ASSERT_TRUE(writer->write(std::as_bytes(std::span(odd).subspan(1))));
    ASSERT_TRUE(writer->write(std::as_bytes(std::span(next))));
    EXPECT_FALSE(std::filesystem::exists(path)) << "appears when it is complete";
    ASSERT_TRUE(writer->finish());
    auto file = Gguf::open(path);
    ASSERT_TRUE(file) << file.error().what;
    const auto& values = (*file)->values();
    EXPECT_EQ(std::get<bool>(values.at("flag")), true);
    EXPECT_EQ(std::get<i64>(values.at("number")), 4000000000);
    EXPECT_EQ(std::get<i64>(values.at("below")), -1);
    EXPECT_EQ(std::get<std::vector<i64>>(values.at("ids")), (std::vector<i64>{3, -4}));
    EXPECT_EQ(std::get<std::vector<std::string>>(values.at("texts"))[1], "ü");
    EXPECT_EQ(values_of(*(*file)->find("odd")), (std::vector<float>{1, 2, 3}));
    EXPECT_EQ(values_of(*(*file)->find("next")), (std::vector<float>{1, -1}));
}

TEST(Inspect, TellsTheFacts) {
    std::string folder = fresh_folder();
    write_hugging_face(folder + "/tiny", hugging_face_arrays());
    ASSERT_EQ(outcome(folder + "/tiny", folder + "/out.gguf"), "converted");
    auto facts = inspect(folder + "/out.gguf");
    ASSERT_TRUE(facts) << facts.error().what;
    for (const char* part : {"whisper-tiny", "1 layers, width 32, 2 heads", "17 tokens",
                             "52 tensors", "languages     2"}) {
        EXPECT_NE(facts->find(part), std::string::npos) << part << " in\n" << *facts;
    }
}

TEST(Convert, AlignmentHeadsOfOpenAisModelsAreKnownBySize) {
    WhisperConfig config;
    config.decoder = {.n_layers = 6, .n_heads = 8, .ffn_dim = 2048};
    config.n_vocab = 51864;
    EXPECT_EQ(openai_alignment_heads(config), (std::vector<int>{3, 3, 4, 7, 5, 1, 5, 5, 5, 7}));
    config.decoder.n_layers = 2;  // distilled
    EXPECT_TRUE(openai_alignment_heads(config).empty());
}

}  // namespace
}  // namespace transcribe
