#include "families/registry.h"

#include "families/whisper/model.h"

namespace transcribe {

std::span<const Family> families() {
    static constexpr Family table[] = {
        {"whisper", whisper::load},
    };
    return table;
}

}  // namespace transcribe
