// What the environment asks to see of a session: values inside the network, as files.
//
// TRANSCRIBE_TAP names nodes (a `*` stands for any characters), TRANSCRIBE_TAP_DIR the folder that
// gets one NAME.npy each; a name that comes again is NAME.1.npy, NAME.2.npy. Arrays are F32,
// slowest axis first, without axes of 1 in front. Sessions at the same time overwrite each other's
// files.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "tensor/compute.h"

namespace transcribe {

class NpyTaps : public TapSink {
  public:
    // Creates the folder. Errors: io.
    static Expected<std::unique_ptr<NpyTaps>> make(std::string names, std::string folder);
    bool wants(std::string_view name) override;
    void take(std::string_view name, const Shape& shape, std::span<const float> values) override;
    // The first file that could not be written.
    const Status& status() const { return status_; }

  private:
    NpyTaps(std::string names, std::string folder)
        : names_(std::move(names)), folder_(std::move(folder)) {}

    std::string names_, folder_;
    std::map<std::string, int, std::less<>> n_taken_;
    Status status_;
};

// Null when the two variables are not both set.
Expected<std::unique_ptr<NpyTaps>> taps_of_environment();

}  // namespace transcribe
