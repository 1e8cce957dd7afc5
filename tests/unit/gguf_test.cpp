// The GGUF reader: what it reads, and that every kind of damage gives one sentence that names the
// file. The damaged files are those of ../shared/cases 10 and 11, written here.
#include "tensor/gguf.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "model_files.h"
#include "tensor/dtype.h"

namespace transcribe {
namespace {

using namespace test;

struct Case {
    const char* name;
    std::string bytes;
    const char* says;  // part of the error
};

// Opens a file of these bytes; the error's text, or "opened".
std::string error_of(const std::string& path, const std::string& bytes) {
    write_file(path, bytes);
    auto start = std::chrono::steady_clock::now();
    auto file = Gguf::open(path);
    auto took = std::chrono::steady_clock::now() - start;
    EXPECT_LT(took, std::chrono::seconds(2)) << path;
    return file ? "opened" : file.error().what;
}

void expect_refused(const std::vector<Case>& cases) {
    std::string folder = fresh_folder();
    for (const Case& c : cases) {
        std::string path = folder + "/" + c.name + ".gguf";
        std::string what = error_of(path, c.bytes);
        EXPECT_NE(what.find(c.says), std::string::npos) << c.name << ": " << what;
        EXPECT_EQ(what.find(path), 0u) << "names the file first: " << what;
        EXPECT_LT(what.size(), path.size() + 300) << what;
        for (char ch : what) EXPECT_TRUE(static_cast<unsigned char>(ch) >= 0x20) << c.name;
    }
}

std::string with_key(const std::string& k) {
    GgufBytes file;
    file.keys.push_back(k);
    return file.bytes();
}

std::string with_tensor(const std::string& t) {
    GgufBytes file;
    file.tensors = {t};
    return file.bytes();
}

std::string with_list(u32 type, u64 n) {
    return with_key(text("x") + raw<u32>(kv_list) + raw(type) + raw(n));
}

TEST(Gguf, ReadsEveryKindOfValue) {
    GgufBytes file;
    file.keys.push_back(key<u8>("u8", kv_u8, 200));
    file.keys.push_back(key<std::uint16_t>("u16", kv_u16, 65535));
    file.keys.push_back(key<std::int32_t>("i32", kv_i32, -7));
    file.keys.push_back(key<u64>("u64", kv_u64, u64{1} << 40));
    file.keys.push_back(key<float>("f32", kv_f32, 0.5f));
    file.keys.push_back(key<double>("f64", kv_f64, 0.25));
    file.keys.push_back(key<u8>("flag", kv_bool, 1));
    file.keys.push_back(text("ints") + raw<u32>(kv_list) + raw<u32>(kv_i32) + raw<u64>(2) +
                        raw<std::int32_t>(-1) + raw<std::int32_t>(5));
    file.keys.push_back(text("texts") + raw<u32>(kv_list) + raw<u32>(kv_str) + raw<u64>(2) +
                        text("one") + text(""));
    file.tensors = {tensor("a", {3, 2}), tensor("b", {32}, 8, 32)};
    file.data = raw(1.0f) + std::string(28, '\1') + std::string(34, '\2');
    std::string path = fresh_folder() + "/good.gguf";
    write_file(path, file.bytes());
    auto opened = Gguf::open(path);
    ASSERT_TRUE(opened) << opened.error().what;
    const Gguf& gguf = **opened;
    EXPECT_EQ(std::get<i64>(gguf.values().at("u8")), 200);
    EXPECT_EQ(std::get<i64>(gguf.values().at("u64")), i64{1} << 40);
    EXPECT_EQ(std::get<double>(gguf.values().at("f64")), 0.25);
    ASSERT_TRUE(gguf.find("a") && gguf.find("b"));
    EXPECT_EQ(gguf.find("a")->shape, (std::vector<i64>{3, 2}));
    EXPECT_EQ(gguf.find("a")->data.size(), 24u);
    EXPECT_EQ(gguf.find("b")->dtype, Dtype::q8_0);
    EXPECT_EQ(gguf.find("b")->data[0], std::byte{2});
    EXPECT_EQ(gguf.find("c"), nullptr);

    Problems problems;
    KvReader kv(gguf, problems);
    EXPECT_EQ(kv.i32("u16", 0, 70000), 65535);
    EXPECT_EQ(kv.i32("i32", -10, 0), -7);
    EXPECT_EQ(kv.f32_or("f32", 0), 0.5f);
    EXPECT_EQ(kv.f32_or("u8", 0), 200.0f);
    EXPECT_TRUE(kv.flag_or("flag", false));
    EXPECT_EQ(kv.ints("ints"), (std::vector<int>{-1, 5}));
    EXPECT_EQ(kv.strs("texts"), (std::vector<std::string>{"one", ""}));
    EXPECT_EQ(kv.at("general").str("architecture"), "whisper");
    EXPECT_TRUE(problems.empty());
}

TEST(Gguf, KvReaderReportsAllFaultsWithTheirKeys) {
    GgufBytes file;
    file.keys.push_back(key<std::int32_t>("n.layers", kv_i32, 0));
    file.keys.push_back(key("n.heads", "many"));
    file.keys.push_back(key<u64>("n.huge", kv_u64, u64{1} << 63));
    file.keys.push_back(key<float>("n.nan", kv_f32, std::nanf("")));
    std::string path = fresh_folder() + "/f.gguf";
    write_file(path, file.bytes());
    auto opened = Gguf::open(path);
    ASSERT_TRUE(opened) << opened.error().what;
    Problems problems;
    KvReader kv = KvReader(**opened, problems).at("n");
    EXPECT_EQ(kv.i32("layers", 1, 99), 1);
    EXPECT_EQ(kv.i32("heads", 1, 99), 1);
    EXPECT_EQ(kv.i32("width", 1, 99), 1);
    EXPECT_EQ(kv.i32_or("huge", 3), 3);
    EXPECT_EQ(kv.f32_or("nan", 2), 2);
    EXPECT_EQ(kv.str("layers"), "");
    kv.require(false, "heads divide the width");
    std::string what = problems.done(Code::bad_model, "f").error().what;
    for (const char* part : {"n.layers is 0, not within 1 to 99", "n.heads is a string",
                             "n.width is missing", "n.huge is 92233", "n.nan is nan",
                             "n.layers is an integer, not a string", "heads divide the width"}) {
        EXPECT_NE(what.find(part), std::string::npos) << part << " in " << what;
    }
}

TEST(Gguf, RefusesWhatIsNoModel) {
    expect_refused({
        {"empty", "", "empty"},
        {"magic-only", "GGUF", "cut"},
        {"header-12-bytes", std::string("GGUF\3\0\0\0\1\0\0\0", 12), "cut"},
        {"eight-bytes", std::string("\0\0\0\0\350\7\0\0", 8), "not a GGUF file: it begins with"},
        {"lfs-pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git-lfs"},
        {"html-page", "<!DOCTYPE html><html><body>404</body></html>",
         "not a GGUF file but a web page"},
        {"torch-zip", std::string("PK\3\4\24\0\0\0", 8), "not a GGUF file but a zip"},
        {"old-ggml", raw<u32>(0x67676d6c) + std::string(44, '\1'), "old ggml"},
        {"big-endian", std::string("GGUF\0\0\0\3", 8) + std::string(80, '\0'), "big-endian"},
        {"safetensors", raw<u64>(100) + "{\"a\":1}", "not a GGUF file"},
        {"control-bytes", "\x1b[2J\x07\xff\xfe", "\\x1b"},
    });
}

TEST(Gguf, RefusesADirectoryAndAMissingFile) {
    std::string folder = fresh_folder();
    auto directory = Gguf::open(folder);
    ASSERT_FALSE(directory);
    EXPECT_NE(directory.error().what.find("is a directory"), std::string::npos);
    auto missing = Gguf::open(folder + "/none.gguf");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, Code::not_found);
    auto device = Gguf::open("/dev/zero");
    EXPECT_FALSE(device);
}

TEST(Gguf, RefusesEveryCut) {
    GgufBytes file;
    file.keys.push_back(key("general.name", "a name"));
    file.tensors = {tensor("a", {64}), tensor("b", {8}, 0, 256)};
    file.data = std::string(256 + 32, '\0');
    std::string whole = file.bytes(), path = fresh_folder() + "/cut.gguf";
    EXPECT_EQ(error_of(path, whole), "opened");
    for (size_t n = 4; n < whole.size(); n++) {
        std::string what = error_of(path, whole.substr(0, n));
        EXPECT_NE(what.find("cut"), std::string::npos)
            << n << " of " << whole.size() << ": " << what;
    }
}

TEST(Gguf, RefusesCountsThatLie) {
    GgufBytes keys_2e60, keys_negative, tensors_2e60;
    keys_2e60.n_keys = 1L << 60;
    keys_negative.n_keys = std::numeric_limits<long>::max();
    tensors_2e60.n_tensors = 1L << 60;
    std::string type_str = raw<u32>(kv_str), nest;
    for (int i = 0; i < 100000; i++) nest += raw<u32>(kv_list) + raw<u64>(1);
    GgufBytes key_2e63, string_2e63;
    key_2e63.keys = {text("general.architecture", u64{1} << 63) + type_str + text("whisper")};
    string_2e63.keys = {text("general.architecture") + type_str + text("whisper", u64{1} << 63)};
    expect_refused({
        {"n-kv-2e60", keys_2e60.bytes(), "claims 1152921504606846976 keys"},
        {"n-kv-negative", keys_negative.bytes(), "keys, more than"},
        {"n-tensors-2e60", tensors_2e60.bytes(), "claims 1152921504606846976 tensors"},
        {"string-2e63", string_2e63.bytes(), "cut or damaged"},
        {"key-2e63", key_2e63.bytes(), "cut or damaged"},
        {"array-2e60", with_list(kv_u64, u64{1} << 60), "claims 1152921504606846976 values"},
        {"array-unknown-type-2e60", with_list(77, u64{1} << 60), "unknown type 77"},
        {"array-in-array", with_key(text("x") + raw<u32>(kv_list) + nest), "unsupported type 9"},
    });
}

TEST(Gguf, RefusesBadTypesNamesAndAlignments) {
    GgufBytes no_arch, numeric_arch, twice, nothing, tensor_twice;
    no_arch.keys = {};
    numeric_arch.keys = {key<u32>("general.architecture", kv_u32, 7)};
    twice.keys.push_back(twice.keys[0]);
    nothing.tensors = {};
    tensor_twice.tensors.push_back(tensor_twice.tensors[0]);
    auto alignment = [](u32 n) { return with_key(key<u32>("general.alignment", kv_u32, n)); };
    auto version = [](u32 n) {
        GgufBytes file;
        file.version = n;
        return file.bytes();
    };
    expect_refused({
        {"value-type-99", with_key(text("x") + raw<u32>(99)), "unknown type 99"},
        {"bool-is-2", with_key(key<u8>("x", kv_bool, 2)), "boolean is 2"},
        {"alignment-0", alignment(0), "alignment is 0"},
        {"alignment-3", alignment(3), "alignment is 3"},
        {"alignment-2e31", alignment(1u << 31), "alignment is 2147483648"},
        {"alignment-int32", with_key(key<std::int32_t>("general.alignment", kv_i32, 32)), "u32"},
        {"alignment-string", with_key(key("general.alignment", "32")), "u32"},
        {"arch-is-a-number", numeric_arch.bytes(), "not a string"},
        {"arch-missing", no_arch.bytes(), "general.architecture is missing"},
        {"duplicate-key", twice.bytes(), "twice"},
        {"duplicate-tensor", tensor_twice.bytes(), "twice"},
        {"nothing-inside", nothing.bytes(), "no tensors"},
        {"version-0", version(0), "version 0"},
        {"version-1", version(1), "version 1"},
        {"version-99", version(99), "version 99"},
    });
}

TEST(Gguf, RefusesBadTensors) {
    std::string n_dims_4g =
        text("a") + raw<u32>(0xFFFFFFFF) + raw<u64>(64) + raw<u32>(0) + raw<u64>(0);
    expect_refused({
        {"n-dims-5", with_tensor(tensor("a", {2, 2, 2, 2, 4})), "5 dimensions"},
        {"n-dims-9", with_tensor(tensor("a", std::vector<u64>(9, 1))), "9 dimensions"},
        {"n-dims-4g", with_tensor(n_dims_4g), "4294967295 dimensions"},
        {"n-dims-0", with_tensor(tensor("a", {})), "0 dimensions"},
        {"dim-0", with_tensor(tensor("a", {64, 0})), "dimension of 0"},
        {"dim-negative", with_tensor(tensor("a", {~u64{63}})), "dimension of -64"},
        {"overflow", with_tensor(tensor("a", {u64{1} << 40, u64{1} << 40})), "cut"},
        {"overflow-to-0", with_tensor(tensor("a", {u64{1} << 32, u64{1} << 32})), "cut"},
        {"tensor-type-999", with_tensor(tensor("a", {64}, 999)), "type 999"},
        {"tensor-type-minus-1", with_tensor(tensor("a", {64}, 0xFFFFFFFF)), "type 4294967295"},
        {"quant-row-not-a-block", with_tensor(tensor("a", {33}, 8)), "rows of 33 elements"},
        {"offset-odd", with_tensor(tensor("a", {4}, 0, 7)), "not at a multiple of 32"},
        {"offset-2e63", with_tensor(tensor("a", {4}, 0, u64{1} << 63)), "cut"},
        {"name-of-70-bytes", with_tensor(tensor(std::string(70, 'n'), {64})), "70 bytes"},
        {"name-empty", with_tensor(tensor("", {64})), "0 bytes"},
    });
}

// A family that this program does not know is the engine's to refuse: the file itself is whole.
TEST(Gguf, OpensAnotherArchitecture) {
    GgufBytes file;
    file.keys = {key("general.architecture", "llama")};
    EXPECT_EQ(error_of(fresh_folder() + "/llama.gguf", file.bytes()), "opened");
}

TEST(Dtype, NamesAndSizes) {
    for (const char* name : {"f32", "f16", "bf16", "q8_0", "q6_k", "q5_k", "q4_k", "q4_0"}) {
        auto dtype = dtype_named(name);
        ASSERT_TRUE(dtype) << name;
        EXPECT_EQ(dtype_name(*dtype), name);
    }
    EXPECT_FALSE(dtype_named("q9"));
    EXPECT_EQ(row_bytes(Dtype::q8_0, 64), 68u);
    EXPECT_EQ(row_bytes(Dtype::q6_k, 256), 210u);
    EXPECT_EQ(row_bytes(Dtype::q8_0, 33), 0u);
    EXPECT_EQ(row_bytes(static_cast<Dtype>(999), 32), 0u);
    EXPECT_EQ(row_bytes(Dtype::f32, std::numeric_limits<i64>::max()), 0u);
}

TEST(Dtype, RoundsToNearestEven) {
    // 1 + 2^-8 lies halfway between two BF16 values, 1 + 2^-11 between two F16 values.
    float values[4] = {1 + 0x1p-8f, 1 + 3 * 0x1p-8f, 1 + 0x1p-11f, 65504};
    std::uint16_t bf16[4], f16[4];
    from_f32(Dtype::bf16, values, bf16, 1, 4);
    from_f32(Dtype::f16, values, f16, 1, 4);
    EXPECT_EQ(bf16[0], 0x3F80);
    EXPECT_EQ(bf16[1], 0x3F82);
    EXPECT_EQ(f16[2], 0x3C00);
    EXPECT_EQ(f16[3], 0x7BFF);
    float back[4];
    to_f32(Dtype::f16, f16, back, 4);
    EXPECT_EQ(back[3], 65504);
}

TEST(Dtype, Q8KeepsItsScaleAndRounding) {
    float values[32];
    for (int i = 0; i < 32; i++) values[i] = static_cast<float>(i - 16) * 0.5f;
    std::uint8_t block[34];
    from_f32(Dtype::q8_0, values, block, 1, 32);
    float back[32];
    to_f32(Dtype::q8_0, block, back, 32);
    EXPECT_EQ(static_cast<std::int8_t>(block[2]), -127)
        << "the largest value takes the whole range";
    for (int i = 0; i < 32; i++) EXPECT_NEAR(back[i], values[i], 8.0 / 127 * 0.51) << i;
}

}  // namespace
}  // namespace transcribe
