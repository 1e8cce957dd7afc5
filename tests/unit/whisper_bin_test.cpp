// whisper.cpp's .bin in our terms, and that every kind of damage gives one sentence.
#include <gtest/gtest.h>

#include <chrono>

#include "convert/convert.h"
#include "convert/inspect.h"
#include "convert/model_file.h"
#include "engine/open.h"
#include "whisper_bin_file.h"

namespace transcribe {
namespace {

using namespace test;

// Opens a file of these bytes; the error's text, or "opened".
std::string error_of(const std::string& path, const std::string& bytes) {
    write_file(path, bytes);
    auto start = std::chrono::steady_clock::now();
    auto file = open_model_file(path);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5)) << path;
    if (file) return "opened";
    const std::string& what = file.error().what;
    EXPECT_EQ(what.find(path), 0u) << "names the file first: " << what;
    EXPECT_LT(what.size(), path.size() + 500) << what;
    for (char c : what) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20);
    return what;
}

void expect_refused(const std::string& bytes, const std::string& says) {
    std::string what = error_of(fresh_folder() + "/ggml-test.bin", bytes);
    EXPECT_NE(what.find(says), std::string::npos) << says << " in: " << what;
}

TEST(WhisperBin, IsAModelFileLikeAnyOther) {
    std::string path = fresh_folder() + "/ggml-small.en-test.bin";
    BinBytes bin;
    write_file(path, bin.bytes());
    auto opened = open_model_file(path);
    ASSERT_TRUE(opened) << opened.error().what;
    const Gguf& file = **opened;
    EXPECT_EQ(file.tensors().size(), 2u + 7 + 15 + 4 + 24);
    for (auto [ours, theirs] :
         {std::pair{"enc.pos_emb.weight", "encoder.positional_embedding"},
          {"enc.conv.0.bias", "encoder.conv1.bias"},
          {"dec.token_embd.weight", "decoder.token_embedding.weight"},
          {"enc.blocks.0.norm_ffn.bias", "encoder.blocks.0.mlp_ln.bias"},
          {"dec.blocks.0.cross_attn.v.bias", "decoder.blocks.0.cross_attn.value.bias"},
          {"dec.final_norm.weight", "decoder.ln.weight"}}) {
        const GgufTensor* tensor = file.find(ours);
        ASSERT_TRUE(tensor) << ours;
        std::string data(reinterpret_cast<const char*>(tensor->data.data()), tensor->data.size());
        EXPECT_TRUE(data == bin.at(theirs).data) << ours;
    }
    EXPECT_EQ(file.find("enc.conv.0.bias")->shape, std::vector<i64>{32});
    EXPECT_EQ(file.find("enc.conv.0.weight")->shape, (std::vector<i64>{3, 80, 32}));
    EXPECT_EQ(file.find("frontend.mel_filterbank")->shape, (std::vector<i64>{201, 80}));
    EXPECT_EQ(file.find("frontend.window")->shape, std::vector<i64>{400});

    Problems problems;
    KvReader kv(file, problems);
    EXPECT_EQ(kv.str("general.name"), "whisper-small.en-test");
    EXPECT_EQ(kv.strs("general.languages"), std::vector<std::string>{"en"});
    EXPECT_EQ(kv.i32("general.file_type", 0, 99), 1);
    EXPECT_EQ(kv.at("stt.whisper").i32("encoder.ffn_dim", 1, 999), 128);
    EXPECT_EQ(kv.at("stt.whisper").i32("no_timestamps_token_id", 1, 99999), 50362);
    EXPECT_TRUE(problems.empty());
    EXPECT_NE(inspect(path)->find("vocabulary    51864 tokens"), std::string::npos);
}

// Ids of the reference's tokenizers (openai-whisper, get_tokenizer).
TEST(WhisperBin, SpecialTokensFollowTheWords) {
    struct Case {
        int n_vocab, start, no_timestamps;
        size_t n_languages;
        const char* last;
    };
    std::string folder = fresh_folder();
    for (const Case& c : {Case{51864, 50257, 50362, 1, "en"},
                          {51865, 50258, 50363, 99, "su"},
                          {51866, 50258, 50364, 100, "yue"}}) {
        BinBytes bin;
        bin.sizes[0] = c.n_vocab;
        BinTensor& embedding = bin.at("decoder.token_embedding.weight");
        embedding.shape[1] = c.n_vocab;
        embedding.data.resize(static_cast<size_t>(c.n_vocab) * 64);
        if (c.n_languages > 1) bin.words.push_back("");  // the reference's last word is empty
        write_file(folder + "/a.bin", bin.bytes());
        auto file = open_model_file(folder + "/a.bin");
        ASSERT_TRUE(file) << file.error().what;
        Problems problems;
        KvReader kv(**file, problems), ids = kv.at("stt.whisper");
        int last_id = c.start + 99 + (c.n_vocab == 51866);
        auto tokens = kv.strs("tokenizer.ggml.tokens");
        auto token = [&](int id) { return tokens.at(static_cast<size_t>(id)); };
        EXPECT_EQ(ids.i32("decoder_start_token_id", 0, 99999), c.start);
        EXPECT_EQ(ids.i32("no_timestamps_token_id", 0, 99999), c.no_timestamps);
        EXPECT_EQ(ids.i32("translate_token_id", 0, 99999), last_id + 1);
        EXPECT_EQ(ids.i32("transcribe_token_id", 0, 99999), last_id + 2);
        EXPECT_EQ(ids.i32("prev_sot_token_id", 0, 99999), last_id + 4);
        EXPECT_EQ(kv.strs("general.languages").size(), c.n_languages);
        EXPECT_EQ(kv.strs("general.languages").back(), c.last);
        EXPECT_EQ(token(c.start - 1), "<|endoftext|>");
        EXPECT_EQ(token(c.no_timestamps + 1), "<|0.00|>");
        EXPECT_EQ(token(c.n_vocab - 1), "<|30.00|>");
        EXPECT_EQ(tokens.size(), static_cast<size_t>(c.n_vocab));
        EXPECT_TRUE(problems.empty());
    }
}

TEST(WhisperBin, LoadsAndConverts) {
    std::string folder = fresh_folder(), path = folder + "/ggml-x.bin";
    BinBytes bin;
    write_file(path, bin.bytes());
    auto model = open_model(path, {.device = "cpu"});
    ASSERT_TRUE(model) << model.error().what;
    EXPECT_EQ((*model)->info().name, "whisper-x");
    auto report = convert(path, folder + "/x.gguf");
    ASSERT_TRUE(report) << report.error().what;
    auto converted = open_model(folder + "/x.gguf", {.device = "cpu"});
    ASSERT_TRUE(converted) << converted.error().what;
    EXPECT_EQ((*converted)->info().n_params, (*model)->info().n_params);
}

TEST(WhisperBin, RefusesSizesThatAreNoWhisper) {
    auto with = [](size_t i, int32_t value) {
        BinBytes bin;
        bin.sizes[i] = value;
        return bin.header();
    };
    expect_refused(with(0, 50000), "n_vocab is 50000, not one of 51864, 51865, 51866");
    expect_refused(with(1, 0), "n_audio_ctx is 0, not within 1 to 4096");
    expect_refused(with(2, 1 << 20), "n_audio_state is 1048576");
    expect_refused(with(3, -1), "n_audio_head is -1");
    expect_refused(with(3, 3), "n_audio_state is 32, not a multiple of 3 heads");
    expect_refused(with(4, 65), "n_audio_layer is 65, not within 1 to 64");
    expect_refused(with(5, 4097), "n_text_ctx is 4097");
    expect_refused(with(6, 64), "n_audio_state is 32 and n_text_state is 64");
    expect_refused(with(8, 0), "n_text_layer is 0");
    expect_refused(with(9, 81), "n_mels is 81, not one of 80, 128");
    expect_refused(with(10, -1), "ftype is -1");
    expect_refused(with(10, 2999), "ftype is 2999");
    expect_refused(raw<u32>(0x67676d6c) + std::string(44, '\1'), "not a GGUF file");
    std::string vad = raw<u32>(0x67676d6c) + raw<u32>(10) + "silero-16k";
    expect_refused(vad + std::string(100, '\0'), "voice activity");
}

TEST(WhisperBin, RefusesFiltersAndWordsThatLie) {
    BinBytes filters, bins, words, none, length;
    filters.filter_sizes = {128, 201};
    bins.filter_sizes = {80, 200};
    words.n_claimed = 51864 + 65;
    none.n_claimed = 0;
    length.words[7] = std::string(1025, 'x');
    expect_refused(filters.header(), "the mel filters are 128 x 201, not 80 x 201");
    expect_refused(bins.header(), "the mel filters are 80 x 200");
    expect_refused(words.header(), "the vocabulary has 51929 words");
    expect_refused(none.header(), "the vocabulary has 0 words");
    expect_refused(length.header(), "word 7 has 1025 bytes");
}

TEST(WhisperBin, RefusesTensorsThatLie) {
    auto with = [](const std::function<void(BinBytes&)>& change) {
        BinBytes bin;
        change(bin);
        return bin.bytes();
    };
    auto changed = [&](const std::function<void(BinTensor&)>& change) {
        return with([&](BinBytes& bin) { change(bin.at("encoder.ln_post.weight")); });
    };
    expect_refused(changed([](auto& t) { t.shape = {2, 2, 2, 2, 2}; }), "5 dimensions");
    expect_refused(changed([](auto& t) { t.shape = {}; }), "0 dimensions");
    expect_refused(changed([](auto& t) { t.shape = {-32}; }), "has the shape [-32]");
    expect_refused(changed([](auto& t) { t.shape = {0}; }), "has the shape [0]");
    expect_refused(changed([](auto& t) {
                       t.shape = {1 << 30, 1 << 30, 1 << 30, 1 << 30};
                   }),
                   "has the shape [1073741824");
    expect_refused(changed([](auto& t) { t.shape = {1 << 22, 4}; }), "needs 67108864 bytes");
    expect_refused(changed([](auto& t) { t.type = 99; }), "is of type 99");
    expect_refused(changed([](auto& t) { t.type = 26; }), "is of type 26");
    expect_refused(changed([](auto& t) { t.type = 8; }), "old layout (version 0)");
    expect_refused(changed([](auto& t) { t.name = ""; }), "name has 0 bytes");
    expect_refused(changed([](auto& t) { t.name = std::string(257, 'n'); }), "name has 257 bytes");
    expect_refused(changed([](auto& t) { t.name = "encoder.extra"; }),
                   "encoder.ln_post.weight is missing; the tensor encoder.extra is not one of");
    expect_refused(with([](auto& bin) { bin.tensors.push_back(bin.tensors[0]); }), "twice");
    expect_refused(with([](auto& bin) { bin.tensors.pop_back(); }),
                   "it holds 49 tensors, and its 1 + 1 layers have 50");
    expect_refused(
        with([](auto& bin) {
            bin.sizes[10] = 2008;
            bin.at("encoder.blocks.0.attn.query.weight") = {
                "encoder.blocks.0.attn.query.weight", {48, 2}, 8, std::string(102, '\0')};
        }),
        "rows of 48 elements, and q8_0 needs a multiple of 32");
    expect_refused(with([](auto& bin) {
                       BinTensor& query = bin.at("encoder.blocks.0.attn.query.weight");
                       query.shape = {16, 64};
                   }),
                   "encoder.blocks.0.attn.query.weight is [64, 16], not [32, 32]");
}

TEST(WhisperBin, RefusesEveryCut) {
    std::string path = fresh_folder() + "/cut.bin";
    BinBytes bin;
    std::string whole = bin.bytes(), header = bin.header();
    std::vector<size_t> cuts;
    for (size_t n = 4; n < 64; n++) cuts.push_back(n);
    for (size_t n = 64; n < header.size(); n += 7919) cuts.push_back(n);
    size_t at = header.size();
    for (const BinTensor& tensor : bin.tensors) {
        for (size_t n : {0u, 1u, 4u, 12u, 17u, 40u}) cuts.push_back(at + n);
        at += BinBytes::bytes_of(tensor).size();
        cuts.push_back(at - 1);
    }
    ASSERT_EQ(at, whole.size());
    EXPECT_EQ(error_of(path, whole), "opened");
    for (size_t n : cuts) {
        std::string what = error_of(path, whole.substr(0, n));
        EXPECT_NE(what.find("the file is cut"), std::string::npos)
            << n << " of " << whole.size() << ": " << what;
    }
}

// Whatever stands there: an error or a model, in time, and never a crash.
TEST(WhisperBin, SurvivesRandomBytes) {
    std::string path = fresh_folder() + "/random.bin";
    BinBytes bin;
    std::string whole = bin.bytes();
    size_t header = bin.header().size();
    std::mt19937 random(5);
    for (int round = 0; round < 60; round++) {
        std::string damaged = whole;
        for (int i = 0; i < 4; i++) {
            size_t from = round % 2 ? header : 4, n = round % 2 ? 20000 : 64;
            damaged[from + random() % n] = static_cast<char>(random());
        }
        error_of(path, damaged);
    }
}

}  // namespace
}  // namespace transcribe
