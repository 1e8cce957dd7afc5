// What the tests of layers share: a machine, random values, a small model file, and the distance to
// a naive loop in double.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "../tmp.h"
#include "convert/gguf_writer.h"
#include "tensor/compute.h"
#include "tensor/weights.h"

namespace transcribe::test {

// A session's machine with its threads borrowed.
struct Machine {
    std::unique_ptr<Compute> compute = *Compute::make(Device::cpu(), *Lanes::make(1, 2));
    Compute::Lease lease{*compute};

    // Runs the graph under way -> the values of `x`, which must have been kept.
    std::vector<float> run(Tensor x, std::initializer_list<Feed> feeds) {
        Status status = compute->run(feeds);
        if (!status) ADD_FAILURE() << status.error().what;
        auto values = compute->values(x);
        return {values.begin(), values.end()};
    }
};

inline std::vector<float> random_values(i64 n, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> draw(0.0f, 1.0f);
    std::vector<float> out(static_cast<size_t>(n));
    for (float& v : out) v = draw(random);
    return out;
}

// Rows of `n_row` values in another type; F32 again with what the type leaves of them.
inline std::vector<std::byte> stored_as(Dtype dtype, const std::vector<float>& values, i64 n_row) {
    i64 n_rows = static_cast<i64>(values.size()) / n_row;
    std::vector<std::byte> out(static_cast<size_t>(n_rows) * row_bytes(dtype, n_row));
    from_f32(dtype, values.data(), out.data(), n_rows, n_row);
    return out;
}
inline std::vector<float> rounded_to(Dtype dtype, const std::vector<float>& values, i64 n_row) {
    std::vector<std::byte> raw = stored_as(dtype, values, n_row);
    std::vector<float> out(values.size());
    to_f32(dtype, raw.data(), out.data(), static_cast<i64>(values.size()));
    return out;
}

// Sum of squared differences over the sum of squares of the reference.
inline double nmse(const std::vector<float>& ours, const std::vector<double>& reference) {
    EXPECT_EQ(ours.size(), reference.size());
    double error = 0, power = 0;
    for (size_t i = 0; i < std::min(ours.size(), reference.size()); i++) {
        error += (ours[i] - reference[i]) * (ours[i] - reference[i]);
        power += reference[i] * reference[i];
    }
    EXPECT_GT(power, 0);
    return error / power;
}

struct Stored {
    std::string name;
    Dtype dtype;
    std::vector<i64> shape;
    std::vector<float> values;  // before they are rounded to the type
};

// A model file of these tensors, open.
inline std::shared_ptr<const Gguf> file_of(const std::vector<Stored>& tensors) {
    auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string(test->test_suite_name()) + "." + test->name();
    std::replace(name.begin(), name.end(), '/', '_');
    std::string path = test::tmp_folder() + "/" + name + ".gguf";
    std::vector<GgufTensorInfo> infos;
    for (const Stored& t : tensors) infos.push_back({t.name, t.dtype, t.shape});
    auto writer = GgufWriter::create(path, {{"general.architecture", std::string("test")}}, infos);
    if (!writer) ADD_FAILURE() << writer.error().what;
    for (const Stored& t : tensors) {
        EXPECT_TRUE(writer->write(stored_as(t.dtype, t.values, t.shape[0]))) << t.name;
    }
    EXPECT_TRUE(writer->finish());
    auto file = Gguf::open(path);
    if (!file) ADD_FAILURE() << file.error().what;
    return *file;
}

inline void finish(Weights& weights) {
    Status status = weights.finish(Device::cpu());
    ASSERT_TRUE(status) << status.error().what;
}

}  // namespace transcribe::test
