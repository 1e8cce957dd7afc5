// A model file becomes a Model: the registry of families, the choice of device.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "asr/model.h"
#include "asr/voice.h"
#include "tensor/device.h"

namespace transcribe {

struct OpenOptions {
    std::string device = "auto";                 // "auto", "cpu", or a name of list_devices()
    Precision precision = Precision::automatic;  // on the CPU
};

// Errors: not_found, bad_model, unsupported (architecture), invalid_argument (device),
// out_of_memory, backend.
Expected<std::shared_ptr<const Model>> open_model(const std::string& path,
                                                  const OpenOptions& options = {});
// The same of a model file's bytes, which are copied.
Expected<std::shared_ptr<const Model>> open_model(std::span<const std::byte> bytes,
                                                  const OpenOptions& options = {});

// On the CPU: it is too small for anything else. Errors: those of open_model, and unsupported where
// the file is a recognizer.
Expected<std::shared_ptr<const VoiceDetector>> open_voice_detector(const std::string& path);

}  // namespace transcribe
