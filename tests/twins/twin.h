// What the twin tests share: a loaded tiny Whisper, a machine to run it on, and numbers to compare.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "families/whisper/decoder.h"
#include "families/whisper/model.h"
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

inline std::shared_ptr<const whisper::WhisperModel> load_whisper(const std::string& path) {
    auto file = Gguf::open(path);
    if (!file) ADD_FAILURE() << file.error().what;
    Loader loader(*file, Device::cpu());
    auto model = whisper::WhisperModel::load(loader);
    if (!model) ADD_FAILURE() << model.error().what;
    return *model;
}

// A session's half that computes, without the long-form loop.
struct Bench {
    std::unique_ptr<Compute> compute;
    std::unique_ptr<Compute::Lease> lease;
    std::unique_ptr<whisper::WindowDecoder> decoder;
    const whisper::WhisperModel& model;

    Bench(const whisper::WhisperModel& of, int n_windows) : model(of) {
        compute = *Compute::make(Device::cpu(), *Lanes::make(1, 2));
        lease = std::make_unique<Compute::Lease>(*compute);
        decoder = *whisper::WindowDecoder::make(*compute, model.net(), model.config(), n_windows);
    }

    std::vector<whisper::WindowText> decode(const std::vector<whisper::Prompt>& prompts,
                                            const LogitRule& rule) {
        std::mt19937 random(0);
        auto texts =
            decoder->decode(prompts, {0, static_cast<int>(prompts.size())}, {rule, 0.0f, random});
        if (!texts) ADD_FAILURE() << texts.error().what;
        return *texts;
    }
};

inline WhisperRules rules_of(const whisper::Config& c, bool timestamps) {
    return WhisperRules(
        c.ids,
        {.suppress = c.suppress, .suppress_at_start = c.begin_suppress, .timestamps = timestamps});
}

}  // namespace transcribe::test
