#include "cli/version.h"

#include <fmt/format.h>

extern "C" {
#include <libavutil/avutil.h>
}

// From ggml: its headers are the business of src/tensor and src/nn.
extern "C" const char* ggml_version(void);

namespace transcribe::cli {

std::string version_text() {
    return fmt::format(
        "transcribe {} (MIT licence)\n"
        "with ggml {} (MIT licence) and FFmpeg {} ({})",
        TRANSCRIBE_VERSION, ggml_version(), av_version_info(), avutil_license());
}

}  // namespace transcribe::cli
