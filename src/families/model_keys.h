// What the model files of families that recognize words have in common.
#pragma once

#include <memory>

#include "asr/types.h"
#include "tensor/weights.h"
#include "text/tokenizer.h"

namespace transcribe {

// Names, variant and licence; `name` is for files that do not say theirs. The family adds the rest.
ModelInfo read_general_info(KvReader kv, const char* arch, const char* name);

// Tokens and their kinds, without merges. `kv` at tokenizer.ggml; `pre` is for files that do not
// say how text is split.
Vocabulary vocabulary_of(KvReader kv, const char* pre);

// Errors: bad_model, with the file's name.
Expected<std::unique_ptr<const Tokenizer>> make_tokenizer(Vocabulary vocabulary,
                                                          const Loader& loader);

// A control token of the vocabulary: what the file's key says, where it has one, else the token
// that is `piece`. 0 on a fault, which the reader keeps.
int read_special_token(KvReader kv, const Tokenizer& tokenizer, const char* key, const char* piece);

}  // namespace transcribe
