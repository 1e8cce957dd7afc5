// The byte-level BPE against the ids that the tokenizers of Hugging Face and OpenAI give
// (data/bpe_*.json, made by tools/make_bpe_golden.py), and against damaged vocabularies.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "text/byte_alphabet.h"
#include "text/tokenizer.h"
#include "text/words.h"

namespace transcribe {
namespace {

nlohmann::json golden(const std::string& pre) {
    return nlohmann::json::parse(std::ifstream(TESTS_DIR "/unit/data/bpe_" + pre + ".json"));
}

Vocabulary vocabulary_of(const nlohmann::json& data) {
    return {"gpt2", data["pre"], data["tokens"], {}, data["merges"]};
}

std::unique_ptr<const Tokenizer> make(Vocabulary vocabulary) {
    auto tokenizer = Tokenizer::make(std::move(vocabulary));
    EXPECT_TRUE(tokenizer) << (tokenizer ? "" : tokenizer.error().what);
    return tokenizer ? *std::move(tokenizer) : nullptr;
}

std::string fault_of(Vocabulary vocabulary, Code code = Code::bad_model) {
    auto tokenizer = Tokenizer::make(std::move(vocabulary));
    if (tokenizer) return "none";
    EXPECT_EQ(tokenizer.error().code, code);
    return tokenizer.error().what;
}

// All 256 bytes, then `more`.
Vocabulary bytes_and(const std::vector<std::string>& more, std::vector<std::string> merges = {}) {
    Vocabulary v{"gpt2", "gpt2", {}, {}, std::move(merges)};
    for (int byte = 0; byte < 256; byte++)
        v.tokens.push_back(piece_of_bytes(std::string(1, static_cast<char>(byte))));
    v.tokens.insert(v.tokens.end(), more.begin(), more.end());
    return v;
}

void expect_golden(const std::string& pre, bool with_merges) {
    auto data = golden(pre);
    Vocabulary vocabulary = vocabulary_of(data);
    if (!with_merges) vocabulary.merges.clear();
    auto tokenizer = make(std::move(vocabulary));
    ASSERT_TRUE(tokenizer);
    ASSERT_GT(data["cases"].size(), 250u);
    for (const auto& entry : data["cases"]) {
        auto text = entry[0].get<std::string>();
        auto ids = tokenizer->encode(text);
        EXPECT_EQ(ids, entry[1].get<std::vector<int>>()) << entry[0];
        EXPECT_EQ(tokenizer->decode(ids), pre == "qwen2" ? normalize_nfc(text) : text);
    }
}

TEST(Bpe, Gpt2AsTokenizers) {
    expect_golden("gpt2", true);
}
TEST(Bpe, Gpt2AsTiktoken) {
    expect_golden("gpt2", false);
}
TEST(Bpe, Qwen2AsTokenizers) {
    expect_golden("qwen2", true);
}
TEST(Bpe, Qwen2AsTiktoken) {
    expect_golden("qwen2", false);
}

TEST(Bpe, WordsOfGpt2AndQwen2) {
    using Words = std::vector<std::string_view>;
    auto gpt2 = [](std::string_view text) { return split_words(text, WordRules::gpt2); };
    auto qwen2 = [](std::string_view text) { return split_words(text, WordRules::qwen2); };
    EXPECT_EQ(gpt2("it's I'LL 42 (ok)"),
              (Words{"it", "'s", " I", "'", "LL", " 42", " (", "ok", ")"}));
    EXPECT_EQ(qwen2("it's I'LL 42 (ok)"),
              (Words{"it", "'s", " I", "'LL", " ", "4", "2", " (", "ok", ")"}));
    EXPECT_EQ(gpt2("a  b\n\nc  "), (Words{"a", " ", " b", "\n", "\n", "c", "  "}));
    EXPECT_EQ(qwen2("a  b \n\n c.\n\nd"), (Words{"a", " ", " b", " \n\n", " c", ".\n\n", "d"}));
    EXPECT_EQ(qwen2("\tx"), (Words{"\tx"}));
    EXPECT_EQ(gpt2("\tx"), (Words{"\t", "x"}));
    EXPECT_EQ(gpt2(""), (Words{}));
}

TEST(Bpe, AnyBytesComeBack) {
    auto tokenizer = make(bytes_and({"th", "\u0120t"}, {"t h", "\u0120 t"}));
    std::mt19937 random(5);
    for (int i = 0; i < 2000; i++) {
        std::string bytes(random() % 24, '\0');
        for (char& c : bytes) c = static_cast<char>(random());
        EXPECT_EQ(tokenizer->decode(tokenizer->encode(bytes)), bytes);
    }
}

TEST(Bpe, ControlTokensHaveNoBytesAndDoNotComeFromText) {
    Vocabulary v = bytes_and({"<|en|>", "", "<think>"});
    v.types.assign(v.tokens.size(), 1);
    v.types[256] = 3;
    v.types[258] = 4;
    auto tokenizer = make(std::move(v));
    EXPECT_EQ(tokenizer->find("<|en|>"), 256);
    EXPECT_EQ(tokenizer->find("<|de|>"), -1);
    EXPECT_TRUE(tokenizer->is_control(256));
    EXPECT_FALSE(tokenizer->is_control(258));
    EXPECT_EQ(tokenizer->bytes(256), "");
    EXPECT_EQ(tokenizer->bytes(257), "");
    EXPECT_EQ(tokenizer->bytes(258), "<think>");
    EXPECT_EQ(tokenizer->bytes(-1), "");
    EXPECT_EQ(tokenizer->bytes(259), "");
    EXPECT_EQ(tokenizer->encode("<|en|>").size(), 6u);
    EXPECT_EQ(tokenizer->decode({'h' - 1, 256, 999999, -7}), tokenizer->decode({'h' - 1}));
}

TEST(Bpe, BytesThatAreNoTokensAreLeftOut) {
    auto tokenizer = make({"gpt2", "", {"a", "b", "ab"}, {}, {"a b"}});
    EXPECT_EQ(tokenizer->encode("abxa"), (std::vector<int>{2, 0}));
    EXPECT_EQ(tokenizer->encode("xyz"), (std::vector<int>{}));
}

TEST(Bpe, LowestRankFirstThenLeftmost) {
    auto tokenizer = make(bytes_and({"bc", "ab", "abc", "aa"}, {"b c", "a b", "a bc", "a a"}));
    EXPECT_EQ(tokenizer->encode("abc"), (std::vector<int>{258}));
    EXPECT_EQ(tokenizer->encode("aaa"), (std::vector<int>{259, 'a'}));
}

TEST(Bpe, DamagedVocabulariesAreRefused) {
    EXPECT_NE(fault_of({"gpt2", "gpt2", {}, {}, {}}).find("no tokens"), std::string::npos);
    EXPECT_NE(fault_of({"gpt2", "gpt2", {"a"}, {1, 1}, {}}).find("1 tokens and 2 types"),
              std::string::npos);
    EXPECT_NE(fault_of({"spm", "", {"a"}, {}, {}}, Code::unsupported).find("spm"),
              std::string::npos);
    EXPECT_NE(fault_of({"gpt2", "llama", {"a"}, {}, {}}, Code::unsupported).find("llama"),
              std::string::npos);
    EXPECT_NE(fault_of({"gpt2", "", {"a", "b c"}, {}, {}}).find("token 1"), std::string::npos);
    EXPECT_NE(fault_of({"gpt2", "", {"a", "\u20AC"}, {}, {}}).find("token 1"), std::string::npos);
    EXPECT_NE(fault_of({"gpt2", "", {"a", "\xC4"}, {}, {}}).find("token 1"), std::string::npos);
    EXPECT_NE(fault_of({"gpt2", "", {"a", "\xFF"}, {}, {}}).find("\\xff"), std::string::npos);
    for (const char* merge : {"a c", "a b", "ab", "", " ", "a ", " a", "a  b"}) {
        EXPECT_NE(fault_of({"gpt2", "", {"a", "b", ""}, {}, {merge}}).find("merge 0"),
                  std::string::npos)
            << merge;
    }
    EXPECT_NE(fault_of({"gpt2", "", {"a", "b", "ab"}, {1, 1, 3}, {"a b"}}).find("merge 0"),
              std::string::npos);
}

TEST(Bpe, ALongWordIsNotQuadratic) {
    auto tokenizer = make(vocabulary_of(golden("gpt2")));
    std::string word;
    std::mt19937 random(2);
    for (int i = 0; i < 200000; i++) word += static_cast<char>('a' + random() % 26);
    auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(word)), word);
    EXPECT_LT(std::chrono::steady_clock::now() - start,
              std::chrono::seconds(5));  // quadratic: minutes
}

}  // namespace
}  // namespace transcribe
