// FFmpeg's capture devices. Its library of devices is opened when it is first asked for: it brings
// most of a desktop with it, which whoever reads files shall neither install nor load.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

struct AVInputFormat;

namespace transcribe {

struct CaptureDevice {
    const AVInputFormat* kind;
    std::string name;
};

// What to try for "KIND:NAME", for a name alone, or for "", the default; the likeliest first.
// Errors: unsupported (libavdevice is not there), not_found (no such kind).
Expected<std::vector<CaptureDevice>> capture_devices(const std::string& device);

}  // namespace transcribe
