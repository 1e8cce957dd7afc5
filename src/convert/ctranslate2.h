// CTranslate2 directories: config.json, model.bin and tokenizer.json or vocabulary.txt.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "convert/checkpoint.h"

namespace transcribe {

// Errors: not_found, io, bad_model, unsupported.
Expected<Checkpoint> open_ctranslate2(const std::string& directory);

// An integer that the converter stored as a scalar tensor, such as encoder/num_heads.
std::optional<int> scalar_int(const Checkpoint&, std::string_view name);

}  // namespace transcribe
