#include "families/model_keys.h"

#include <fmt/format.h>

namespace transcribe {

ModelInfo read_general_info(KvReader kv, const char* arch, const char* name) {
    ModelInfo info;
    info.arch = arch;
    info.name = kv.str_or("general.name", kv.str_or("stt.variant", name));
    info.variant = kv.str_or("stt.variant", "");
    info.license = kv.str_or("general.license", "");
    return info;
}

Vocabulary vocabulary_of(KvReader kv, const char* pre) {
    Vocabulary v;
    v.model = kv.str_or("model", "gpt2");
    v.pre = kv.str_or("pre", pre);
    v.tokens = kv.strs("tokens");
    v.types = kv.ints("token_type");
    return v;
}

Expected<std::unique_ptr<const Tokenizer>> make_tokenizer(Vocabulary vocabulary,
                                                          const Loader& loader) {
    const std::string& path = loader.file->path();
    TRY(loader.problems.done(Code::bad_model, path));
    Expected<std::unique_ptr<const Tokenizer>> made = Tokenizer::make(std::move(vocabulary));
    if (made) return made;
    return Error{Code::bad_model, path + ": " + made.error().what};
}

int read_special_token(KvReader kv, const Tokenizer& tokenizer, const char* key,
                       const char* piece) {
    int id = kv.i32_or(key, tokenizer.find(piece));
    bool valid = id >= 0 && id < tokenizer.n_tokens();
    kv.require(valid, fmt::format("the token {} ({}) is one of the vocabulary", piece, key));
    return valid ? id : 0;
}

}  // namespace transcribe
