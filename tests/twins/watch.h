// What the twin tests of all families share: what stands inside a network, and how far two numbers
// are apart.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tensor/compute.h"

namespace transcribe::test {

// Mean squared error over the mean square of the reference: the one metric of numbers.
inline double nmse(std::span<const float> ours, std::span<const float> reference) {
    EXPECT_EQ(ours.size(), reference.size());
    double error = 0, power = 0;
    for (size_t i = 0; i < std::min(ours.size(), reference.size()); i++) {
        error += std::pow(static_cast<double>(ours[i]) - reference[i], 2);
        power += std::pow(static_cast<double>(reference[i]), 2);
    }
    return error / power;
}
constexpr double nmse_f32_max = 1e-8;

// Keeps every observed node.
class Recorder : public TapSink {
  public:
    bool wants(std::string_view) override { return true; }
    void take(std::string_view name, const Shape&, std::span<const float> values) override {
        taps[std::string(name)].assign(values.begin(), values.end());
    }
    std::map<std::string, std::vector<float>> taps;
};

}  // namespace transcribe::test
