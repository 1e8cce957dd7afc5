// ONNX files as a source of weights: the tiny Silero VAD of the twins, whole and damaged.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "../tmp.h"
#include "convert/convert.h"
#include "convert/onnx.h"
#include "convert/silero.h"
#include "tensor/gguf.h"

namespace transcribe {
namespace {

namespace fs = std::filesystem;

const std::string source = std::string(TESTS_DIR) + "/twins/data/silero";

class Onnx : public testing::Test {
  protected:
    void SetUp() override {
        fs::create_directories(folder_);
        std::ifstream in(source + "/" + silero_file, std::ios::binary);
        std::stringstream text;
        text << in.rdbuf();
        whole_ = text.str();
        ASSERT_GT(whole_.size(), 1000u);
    }
    void TearDown() override { fs::remove_all(folder_); }

    Expected<ConvertReport> convert_bytes(const std::string& bytes) const {
        std::ofstream(folder_ + "/" + silero_file, std::ios::binary | std::ios::trunc) << bytes;
        return convert(folder_, folder_ + "/out.gguf");
    }

    std::string folder_ = test::tmp_folder() + "/onnx";
    std::string whole_;
};

TEST_F(Onnx, WeightsKeepNamesShapesAndTheLstmItsRoles) {
    Checkpoint checkpoint;
    Status status = read_onnx(source + "/" + silero_file, checkpoint);
    ASSERT_TRUE(status) << status.error().what;
    EXPECT_EQ(checkpoint.tensors.size(), 14u);
    const SourceTensor* kernel = checkpoint.find("encoder.0.weight");
    ASSERT_NE(kernel, nullptr);
    EXPECT_EQ(kernel->shape, (std::vector<i64>{8, 9, 3}));
    for (const char* name : {"lstm.W", "lstm.R", "lstm.B"}) EXPECT_TRUE(checkpoint.find(name));
}

TEST_F(Onnx, TheCellStaysF32WhateverIsAsked) {
    ConvertOptions f16{.type = Dtype::f16, .name = {}, .on_progress = {}};
    auto report = convert(source, folder_ + "/f16.gguf", f16);
    ASSERT_TRUE(report) << report.error().what;
    auto file = Gguf::open(folder_ + "/f16.gguf");
    ASSERT_TRUE(file) << file.error().what;
    for (const GgufTensor& tensor : (*file)->tensors()) {
        bool kernel = tensor.name.starts_with("enc.") && tensor.name.ends_with("weight");
        EXPECT_EQ(tensor.dtype, kernel ? Dtype::f16 : Dtype::f32) << tensor.name;
    }
}

TEST_F(Onnx, AFileCutAnywhereIsRefused) {
    for (size_t n = 0; n < whole_.size(); n += 61) {
        auto report = convert_bytes(whole_.substr(0, n));
        ASSERT_FALSE(report) << n;
        EXPECT_EQ(report.error().code, Code::bad_model) << report.error().what;
        EXPECT_NE(report.error().what.find("onnx"), std::string::npos) << report.error().what;
    }
}

TEST_F(Onnx, DamagedBytesNeverCrash) {
    int n_refused = 0;
    for (size_t i = 0; i < whole_.size(); i += 7) {
        std::string damaged = whole_;
        damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
        n_refused += !convert_bytes(damaged);
    }
    EXPECT_GT(n_refused, 10);
}

TEST_F(Onnx, AnotherNetworkIsNamed) {
    std::string renamed = whole_;
    for (size_t at; (at = renamed.find("encoder.3.bias")) != std::string::npos;) {
        renamed[at + 8] = '7';
    }
    auto report = convert_bytes(renamed);
    ASSERT_FALSE(report);
    EXPECT_NE(report.error().what.find("encoder.3.bias is missing"), std::string::npos);
    EXPECT_NE(report.error().what.find("encoder.7.bias is not one of"), std::string::npos)
        << report.error().what;
}

}  // namespace
}  // namespace transcribe
