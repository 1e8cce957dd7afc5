#include "cli/version.h"

#include <fmt/format.h>

extern "C" {
#include <libavutil/avutil.h>
}

#include "tensor/device.h"

namespace transcribe::cli {

std::string version_text() {
    return fmt::format(
        "transcribe {} (MIT licence)\n"
        "with ggml {} (MIT licence) and FFmpeg {} ({})",
        TRANSCRIBE_VERSION, compute_library_version(), av_version_info(), avutil_license());
}

}  // namespace transcribe::cli
