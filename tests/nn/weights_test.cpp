// Binding to a model file: all faults at once, and what becomes of types.
#include <ggml.h>

#include "../unit/model_files.h"
#include "nn.h"
#include "nn/linear.h"
#include "nn/norm.h"

namespace transcribe::test {

namespace {

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// Values of a weight as F32.
std::vector<float> values_of(Weight w) {
    Machine m;
    Graph& g = m.compute->begin();
    Tensor y = g.keep(1.0f * g.use(w));
    return m.run(y, {});
}

TEST(Weights, AllFaultsAreInOneMessage) {
    Weights weights(file_of({{"short.weight", Dtype::f32, {8, 3}, random_values(24, 1)},
                             {"short.bias", Dtype::f32, {4}, random_values(4, 2)},
                             {"norm.weight", Dtype::q8_0, {32}, random_values(32, 3)},
                             {"spare", Dtype::f32, {2}, random_values(2, 4)}}));
    Linear of_wrong_shape, absent;
    LayerNorm of_wrong_type;
    of_wrong_shape.bind(weights.root() / "short", 8, 4);
    of_wrong_type.bind(weights.root() / "norm", 32);
    absent.bind((weights.root() / "blocks")[7] / "fc", 8, 4, Bias::none);
    Status status = weights.finish(Device::cpu());
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, Code::bad_model);
    const std::string& what = status.error().what;
    EXPECT_TRUE(contains(what, "AllFaultsAreInOneMessage.gguf: ")) << what;  // the file
    EXPECT_TRUE(contains(what, "short.weight has shape [8, 3], expected [8, 4]")) << what;
    EXPECT_TRUE(contains(what, "norm.weight is stored as q8_0")) << what;
    EXPECT_TRUE(contains(what, "norm.bias is missing")) << what;
    EXPECT_TRUE(contains(what, "blocks.7.fc.weight is missing")) << what;
    EXPECT_FALSE(contains(what, "short.bias")) << what;
    EXPECT_EQ(weights.unused(), std::vector<std::string>{"spare"});
}

TEST(Weights, ManyFaultsAreCounted) {
    Weights weights(file_of({{"a", Dtype::f32, {1}, {0}}}));
    for (int i = 0; i < 40; i++) (weights.root() / "b")[i].need("w", Role::vector, {2});
    Status status = weights.finish(Device::cpu());
    ASSERT_FALSE(status);
    EXPECT_TRUE(contains(status.error().what, "b.0.w")) << status.error().what;
    EXPECT_TRUE(contains(status.error().what, "28 more")) << status.error().what;
}

TEST(Weights, TablesOfHalfPrecisionBecomeF32) {
    std::vector<float> values = random_values(64 * 5, 1);
    for (Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16}) {
        Weights weights(file_of({{"table", dtype, {64, 5}, values}}));
        Weight table = weights.root().need("table", Role::table, {64, 5});
        finish(weights);
        EXPECT_EQ(table.dtype(), Dtype::f32);
        EXPECT_EQ(values_of(table), rounded_to(dtype, values, 64)) << dtype_name(dtype);
    }
}

TEST(Weights, MatricesStayAsTheyAreStoredAndKernelsOnlyAsFloats) {
    for (Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::q8_0, Dtype::q4_k}) {
        Weights weights(file_of({{"m", dtype, {256, 2}, random_values(512, 1)}}));
        Weight matrix = weights.root().need("m", Role::matrix, {256, 2});
        finish(weights);
        EXPECT_EQ(matrix.dtype(), dtype);
    }
    Weights weights(file_of({{"k", Dtype::bf16, {3, 2, 4}, random_values(24, 1)}}));
    Weight kernel = weights.root().need("k", Role::kernel, {3, 2, 4});
    finish(weights);
    EXPECT_EQ(kernel.dtype(), Dtype::f32);
}

// Files may align their data to 8 bytes, and those of whisper.cpp do not align it at all; kernels
// want 32.
TEST(Weights, WhatLiesUnalignedIsCopied) {
    GgufBytes file;
    file.keys.push_back(key<u32>("general.alignment", kv_u32, 8));
    file.tensors = {tensor("a", {2}), tensor("b", {4}, 0, 8)};
    file.alignment = 8;
    file.data.clear();
    for (float v : {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}) file.data += raw(v);
    std::string path = fresh_folder() + "/unaligned.gguf";
    write_file(path, file.bytes());
    auto opened = Gguf::open(path);
    ASSERT_TRUE(opened) << opened.error().what;
    Weights weights(*opened);
    Weight a = weights.root().need("a", Role::matrix, {2});
    Weight b = weights.root().need("b", Role::matrix, {4});
    finish(weights);
    EXPECT_EQ(values_of(a), (std::vector<float>{1, 2}));
    EXPECT_EQ(values_of(b), (std::vector<float>{3, 4, 5, 6}));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.t->data) % 32, 0u);
}

TEST(Weights, ATensorThatMayBeAbsentIsEmptyThen) {
    Weights weights(file_of({{"here", Dtype::f32, {3, 1}, {1, 2, 3}}}));
    Weight here = weights.root().maybe("here", Role::vector, {3});  // [3, 1] is [3]
    Weight absent = weights.root().maybe("absent", Role::vector, {3});
    finish(weights);
    EXPECT_FALSE(absent);
    ASSERT_TRUE(here);
    EXPECT_EQ(values_of(here), (std::vector<float>{1, 2, 3}));
    EXPECT_EQ(weights.n_params(), 3);
}

TEST(Weights, WithoutAFileBindingGivesTheSchema) {
    Weights dry(nullptr);
    Linear linear;
    linear.bind(dry.root() / "enc" / "fc", 6, 2);
    ASSERT_EQ(dry.schema().size(), 2u);
    EXPECT_EQ(dry.schema()[0].name, "enc.fc.weight");
    EXPECT_EQ(dry.schema()[0].shape, (Shape{6, 2}));
    EXPECT_EQ(dry.schema()[0].role, Role::matrix);
    EXPECT_EQ(dry.schema()[1].name, "enc.fc.bias");
}

TEST(Weights, AHostCopyIsF32) {
    std::vector<float> values = random_values(16, 1);
    Weights weights(file_of({{"window", Dtype::f16, {16}, values}}));
    EXPECT_EQ(weights.host_copy("window", {16}), rounded_to(Dtype::f16, values, 16));
    EXPECT_TRUE(weights.host_copy("filters", {16}).empty());
    Status status = weights.finish(Device::cpu());
    ASSERT_FALSE(status);
    EXPECT_TRUE(contains(status.error().what, "filters is missing")) << status.error().what;
}

}  // namespace

}  // namespace transcribe::test
