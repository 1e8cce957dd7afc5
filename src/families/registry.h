// The table of families: one line each.
#pragma once

#include <span>

#include "asr/model.h"

namespace transcribe {

std::span<const Family> families();

}  // namespace transcribe
