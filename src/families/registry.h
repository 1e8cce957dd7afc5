// The tables of families: one line each.
#pragma once

#include <span>

#include "asr/model.h"
#include "asr/voice.h"

namespace transcribe {

std::span<const Family> families();
std::span<const VoiceFamily> voice_families();

}  // namespace transcribe
