// What the tests of the library share. They see its public headers only, and its shared library.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include <cmath>
#include <string>
#include <transcribe/transcribe.hpp>
#include <vector>

namespace transcribe::test {

// A tone that wanders; the twin says something about any sound.
inline std::vector<float> sound(double seconds, float hz) {
    std::vector<float> out(static_cast<size_t>(seconds * 16000));
    for (size_t i = 0; i < out.size(); i++) {
        float t = static_cast<float>(i) / 16000;
        out[i] = 0.3f * std::sin(6.2832f * hz * t * (1 + 0.2f * std::sin(3 * t)));
    }
    return out;
}

// The committed twin as a model file, made by make_twin.
inline Model twin() {
    return Model(TWIN_FILE);
}

// The path of tiny.en in the user's cache, or "".
inline std::string tiny_en() {
    FindOptions options;
    options.offline = true;
    try {
        return find_model("tiny.en", options);
    } catch (const Failure&) {
        return "";
    }
}
#define SKIP_WITHOUT_TINY_EN()                                                         \
    if (tiny_en().empty()) {                                                           \
        GTEST_SKIP() << "no model tiny.en in the cache; run: transcribe pull tiny.en"; \
    }

inline SessionOptions one_thread() {
    SessionOptions options;
    options.n_threads = 1;
    return options;
}

// All that a result says, times taken apart.
inline std::string bytes(const Result& result) {
    return std::string(result.format("json")) + std::string(result.format("jsonl"));
}

class Clock {
  public:
    double ms() const {
        auto taken = std::chrono::steady_clock::now() - start_;
        return std::chrono::duration<double, std::milli>(taken).count();
    }

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace transcribe::test
