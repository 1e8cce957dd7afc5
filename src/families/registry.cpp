#include "families/registry.h"

#include "families/canary_qwen/model.h"
#include "families/silero/model.h"
#include "families/whisper/model.h"

namespace transcribe {

std::span<const Family> families() {
    static constexpr Family table[] = {
        {"canary_qwen", canary_qwen::load, false},
        {"whisper", whisper::load, true},
    };
    return table;
}

std::span<const VoiceFamily> voice_families() {
    static constexpr VoiceFamily table[] = {
        {"silero-vad", silero::load},
    };
    return table;
}

}  // namespace transcribe
