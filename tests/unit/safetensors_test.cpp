// Checkpoints of Hugging Face and CTranslate2, whole and hostile.
#include "convert/safetensors.h"

#include <gtest/gtest.h>

#include "convert/ctranslate2.h"
#include "convert/json.h"
#include "model_files.h"

namespace transcribe {
namespace {

using namespace test;

std::string safetensors(const std::string& header, const std::string& data) {
    return raw<u64>(header.size()) + header + data;
}

std::string entry(const std::string& shape, const std::string& offsets,
                  const std::string& dtype = "F32") {
    return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets +
           "}";
}

std::string error_of(const std::string& bytes) {
    std::string path = fresh_folder() + "/model.safetensors";
    write_file(path, bytes);
    Checkpoint into;
    Status read = read_safetensors(path, into);
    return read ? "read" : read.error().what;
}

void expect_refused(const std::string& bytes, const char* says) {
    std::string what = error_of(bytes);
    EXPECT_NE(what.find(says), std::string::npos) << says << " in: " << what;
    EXPECT_NE(what.find("model.safetensors"), std::string::npos) << what;
}

TEST(Safetensors, ReadsTypesAndShapes) {
    std::string header = R"({"__metadata__":{"format":"pt"},"b":)" + entry("[2]", "[8,12]", "F16") +
                         R"(,"a":)" + entry("[1,2]", "[0,8]") + R"(,"c":)" +
                         entry("[1]", "[12,14]", "BF16") + "}";
    std::string data = raw(1.5f) + raw(-2.0f) + raw<std::uint16_t>(0x3C00) +
                       raw<std::uint16_t>(0xC000) + raw<std::uint16_t>(0x3FC0);
    std::string path = fresh_folder() + "/model.safetensors";
    write_file(path, safetensors(header, data));
    Checkpoint into;
    Status read = read_safetensors(path, into);
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_EQ(into.tensors.size(), 3u);
    float values[2];
    into.find("a")->read(0, values);
    EXPECT_EQ(values[1], -2.0f);
    into.find("b")->read(0, values);
    EXPECT_EQ(values[0], 1.0f);
    EXPECT_EQ(values[1], -2.0f);
    into.find("c")->read(0, std::span(values).first(1));
    EXPECT_EQ(values[0], 1.5f);
}

TEST(Safetensors, RefusesLies) {
    std::string eight(8, '\0');
    auto one = [&](const std::string& e) { return safetensors("{\"a\":" + e + "}", eight); };
    EXPECT_EQ(error_of(one(entry("[2]", "[0,8]"))), "read");
    expect_refused("", "not a safetensors file");
    expect_refused("abc", "not a safetensors file");
    expect_refused(raw<u64>(1000) + "{", "the file is cut");
    expect_refused(raw<u64>(~u64{0}) + "{}", "not a safetensors file");
    expect_refused(safetensors("{\"a\":", eight), "not valid JSON");
    expect_refused(one(entry("[2]", "[0,16]")), "does not give");
    expect_refused(one(entry("[4]", "[0,16]")), "the file is cut");
    expect_refused(one(entry("[1]", "[4,8]")), "does not follow");
    expect_refused(one(entry("[1]", "[0,4]")), "4 bytes follow");
    expect_refused(one(entry("[2]", "[8,0]")), "increasing");
    expect_refused(one(entry("[2]", "[0]")), "increasing");
    expect_refused(one(entry("[2]", "[-8,0]")), "increasing");
    expect_refused(one(entry("[-2]", "[0,8]")), "no size");
    expect_refused(one(entry("[4611686018427387904,4]", "[0,8]")), "no size");
    expect_refused(one(entry("[1073741824,1073741824,1073741824]", "[0,8]")), "does not give");
    expect_refused(one(entry("2", "[0,8]")), "not a list");
    expect_refused(one(entry("[2]", "[0,8]", "F64")), "not F32, F16, BF16 or I64");
    expect_refused(one("7"), "not an object");
    expect_refused(one("{}"), "dtype");
    std::string e = entry("[1]", "[0,4]");
    expect_refused(safetensors("{\"a\":" + e + ",\"a\":" + e + "}", eight), "twice");
    expect_refused(safetensors("{\"a\":" + e + ",\"b\":" + e + "}", eight), "does not follow");
}

TEST(Safetensors, RefusesDeepJson) {
    std::string deep = "{\"a\":" + std::string(200000, '[') + std::string(200000, ']') + "}";
    expect_refused(safetensors(deep, ""), "nested too deeply");
}

std::string shard(const std::string& name) {
    return safetensors("{\"" + name + "\":" + entry("[1]", "[0,4]") + "}", raw(1.0f));
}

TEST(Safetensors, ReadsShardsAndRefusesBadIndexes) {
    std::string folder = fresh_folder(), index = folder + "/model.safetensors.index.json";
    write_file(folder + "/config.json", R"({"model_type":"whisper"})");
    write_file(folder + "/one.safetensors", shard("a"));
    write_file(folder + "/two.safetensors", shard("b"));
    auto map = [](const std::string& inside) { return "{\"weight_map\":{" + inside + "}}"; };
    auto opens = [&](const std::string& text) {
        write_file(index, text);
        auto checkpoint = open_checkpoint(folder);
        return checkpoint ? "opened" : checkpoint.error().what;
    };
    std::string good = R"("a":"one.safetensors","b":"two.safetensors")";
    EXPECT_EQ(opens(map(good)), "opened");
    EXPECT_NE(opens(map(good + R"(,"c":"two.safetensors")")).find("in none"), std::string::npos);
    EXPECT_NE(opens(map(R"("a":"../one.safetensors")")).find("plain name"), std::string::npos);
    EXPECT_NE(opens(map(R"("a":5)")).find("plain name"), std::string::npos);
    EXPECT_NE(opens("{}").find("weight_map"), std::string::npos);
    EXPECT_NE(opens("[]").find("not a JSON object"), std::string::npos);
    EXPECT_NE(opens(map(R"("a":"three.safetensors")")).find("no such file"), std::string::npos);
    write_file(folder + "/two.safetensors", shard("a"));
    EXPECT_NE(opens(map(good)).find("another file as well"), std::string::npos);
}

TEST(Json, ReadsFieldsAndReportsFaults) {
    auto json =
        parse_json(R"({"n":4,"big":99999999999,"f":true,"l":[1,2],"m":[1,"x"],"z":null})", "j");
    ASSERT_TRUE(json);
    Problems problems;
    JsonReader reader(*json, problems, "j");
    EXPECT_EQ(reader.i32("n", 1, 9), 4);
    EXPECT_TRUE(reader.flag_or("f", false));
    EXPECT_EQ(reader.ints("l"), (std::vector<int>{1, 2}));
    EXPECT_FALSE(reader.maybe_i32("z"));
    EXPECT_TRUE(problems.empty());
    EXPECT_EQ(reader.i32("big", 1, 9), 1);
    EXPECT_EQ(reader.i32("none", 2, 9), 2);
    EXPECT_FALSE(reader.ints("m"));
    EXPECT_EQ(reader.str_or("n", "s"), "s");
    std::string what = problems.done(Code::bad_model, "x").error().what;
    for (const char* part : {"big in j", "none is missing", "m in j", "n in j"}) {
        EXPECT_NE(what.find(part), std::string::npos) << what;
    }
}

// CTranslate2's model.bin.
std::string ct2_name(const std::string& s) {
    return raw(static_cast<std::uint16_t>(s.size() + 1)) + s + '\0';
}
std::string ct2_tensor(const std::string& name, std::vector<u32> dims, u8 type,
                       const std::string& data) {
    std::string out = ct2_name(name) + raw(static_cast<u8>(dims.size()));
    for (u32 n : dims) out += raw(n);
    return out + raw(type) + raw(static_cast<u32>(data.size())) + data;
}
std::string ct2_file(u32 n, const std::string& tensors, u32 version = 6) {
    return raw(version) + ct2_name("WhisperSpec") + raw<u32>(3) + raw(n) + tensors + raw<u32>(0);
}

std::string ct2_error(const std::string& folder, const std::string& bytes) {
    write_file(folder + "/model.bin", bytes);
    auto checkpoint = open_checkpoint(folder);
    return checkpoint ? "opened" : checkpoint.error().what;
}

TEST(Ctranslate2, ReadsInt8WithScales) {
    std::string folder = fresh_folder();
    std::string weight = ct2_tensor("w/weight", {2, 2}, 1, std::string("\x7f\x01\x80\x02", 4));
    std::string scale = ct2_tensor("w/weight_scale", {2}, 0, raw(127.0f) + raw(2.0f));
    write_file(folder + "/model.bin", ct2_file(2, weight + scale));
    auto checkpoint = open_checkpoint(folder);
    ASSERT_TRUE(checkpoint) << checkpoint.error().what;
    EXPECT_EQ(checkpoint->architecture, "whisper");
    EXPECT_EQ(checkpoint->tensors.size(), 1u) << "the scale belongs to its weight";
    float values[3];
    checkpoint->find("w/weight")->read(1, values);
    EXPECT_FLOAT_EQ(values[0], 1.0f / 127);
    EXPECT_EQ(values[1], -64.0f);
    EXPECT_EQ(values[2], 1.0f);
}

TEST(Ctranslate2, RefusesDamage) {
    std::string folder = fresh_folder(), good = ct2_tensor("a", {2}, 0, raw(1.0f) + raw(2.0f));
    std::string whole = ct2_file(1, good);
    EXPECT_EQ(ct2_error(folder, whole), "opened");
    for (size_t n = 0; n < whole.size(); n++) {
        EXPECT_NE(ct2_error(folder, whole.substr(0, n)).find("cut"), std::string::npos) << n;
    }
    auto refused = [&](const std::string& bytes, const char* says) {
        std::string what = ct2_error(folder, bytes);
        EXPECT_NE(what.find(says), std::string::npos) << what;
    };
    refused(ct2_file(1, good, 5), "version 6");
    refused(ct2_file(2, good + good), "twice");
    refused(ct2_file(0xFFFFFFFF, good), "too many tensors");
    refused(ct2_file(1, ct2_tensor("a", {3}, 0, raw(1.0f))), "does not give");
    refused(ct2_file(1, ct2_tensor("a", {1}, 9, raw(1.0f))), "unknown type 9");
    refused(ct2_file(1, ct2_tensor("a", {4}, 1, raw(1.0f))), "scale");
    refused(ct2_file(1, good) + "x", "1 bytes follow");
    std::vector<u32> huge(255, 0xFFFFFFFF);
    refused(ct2_file(1, ct2_tensor("a", huge, 0, raw(1.0f))), "does not give");
}

TEST(Checkpoint, SaysWhatADirectoryLacks) {
    std::string folder = fresh_folder();
    auto says = [&](const std::string& path, const char* part) {
        auto checkpoint = open_checkpoint(path);
        ASSERT_FALSE(checkpoint);
        EXPECT_NE(checkpoint.error().what.find(part), std::string::npos) << checkpoint.error().what;
    };
    says(folder + "/none", "no such file or directory");
    says(folder, "neither model.safetensors");
    write_file(folder + "/pytorch_model.bin", "PK");
    says(folder, "only pytorch_model.bin");
    says(folder + "/pytorch_model.bin", "not a GGUF file");
    write_file(folder + "/model.safetensors", shard("a"));
    says(folder + "/model.safetensors", "not a directory");
    says(folder, "config.json");
}

}  // namespace
}  // namespace transcribe
