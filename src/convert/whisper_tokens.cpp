// Whisper's token ids. They are looked up by piece, since a fine-tune may have moved them; lists of
// ids come from the source's configuration, and from OpenAI's rules where it has none.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "convert/json.h"
#include "convert/whisper.h"

namespace transcribe {

namespace {

constexpr int n_vocab_multilingual = 51865;
std::string language_code(std::string_view piece) {
    if (piece.size() < 6 || !piece.starts_with("<|") || !piece.ends_with("|>")) return {};
    std::string_view code = piece.substr(2, piece.size() - 4);
    bool letters = std::ranges::all_of(code, [](char c) { return c >= 'a' && c <= 'z'; });
    return letters && code.size() <= 3 ? std::string(code) : std::string();
}

class TokenReader {
  public:
    TokenReader(const Checkpoint& from, const WhisperConfig& config)
        : from_(from), config_(config) {}

    Expected<WhisperTokens> read() {
        TRY_SET(out_.vocabulary, read_vocabulary(from_.directory));
        TRY_SET(json_config_, read_json_if_any(from_.path("config.json")));
        TRY_SET(json_generation_, read_json_if_any(from_.path("generation_config.json")));
        TRY(fit_vocabulary());
        find_specials();
        find_languages();
        find_suppressed();
        find_alignment_heads();
        TRY(problems_.done(Code::bad_model, printable(from_.directory, 1000)));
        return std::move(out_);
    }

  private:
    bool hugging_face() const { return from_.format == Checkpoint::Format::hugging_face; }
    JsonReader generation() { return {json_generation_, problems_, "generation_config.json"}; }
    JsonReader config() { return {json_config_, problems_, "config.json"}; }

    Status fit_vocabulary() {
        size_t n = out_.vocabulary.tokens.size();
        if (n <= static_cast<size_t>(config_.n_vocab)) {
            // Many tokenizers do not list them; they follow on <|notimestamps|>.
            auto before = out_.vocabulary.find("<|notimestamps|>");
            if (before) name_timestamps(out_.vocabulary, *before + 1, config_.n_vocab);
            out_.vocabulary.fill_holes(config_.n_vocab);
            return {};
        }
        return Error{Code::bad_model,
                     fmt::format("{}: the tokenizer has {} ids, and the model {}",
                                 printable(from_.directory, 1000), n, config_.n_vocab)};
    }

    int need(const char* piece, const char* key) {
        auto id = out_.vocabulary.find(piece);
        if (!id) id = generation().maybe_i32(key);
        if (!id) id = config().maybe_i32(key);
        if (id && *id >= 0 && *id < config_.n_vocab) return *id;
        problems_.add(fmt::format("the tokenizer has no {}", piece));
        return 0;
    }

    void find_specials() {
        out_.end_of_text = need("<|endoftext|>", "eos_token_id");
        out_.start = need("<|startoftranscript|>", "decoder_start_token_id");
        out_.no_timestamps = need("<|notimestamps|>", "no_timestamps_token_id");
        out_.transcribe = out_.vocabulary.find("<|transcribe|>");
        out_.translate = out_.vocabulary.find("<|translate|>");
        out_.previous = out_.vocabulary.find("<|startofprev|>");
    }

    // The English models' tokenizers list languages as well, which those models never saw.
    void find_languages() {
        bool many =
            generation().flag_or("is_multilingual", config_.n_vocab >= n_vocab_multilingual);
        int end = std::min(out_.transcribe.value_or(0), out_.translate.value_or(0));
        for (int id = out_.start + 1; many && id < end; id++) {
            std::string code = language_code(out_.vocabulary.tokens[static_cast<size_t>(id)]);
            if (!code.empty() && is_listed(code)) out_.languages.push_back(code);
        }
        if (out_.languages.empty()) out_.languages = {"en"};
    }

    // A fine-tune may name fewer languages than the vocabulary has.
    bool is_listed(const std::string& code) const {
        if (!json_generation_.is_object()) return true;
        auto list = json_generation_.find("lang_to_id");
        if (list == json_generation_.end() || !list->is_object()) return true;
        return list->contains(fmt::format("<|{}|>", code));
    }

    std::optional<std::vector<int>> ids(const char* hugging_face_key, const char* ctranslate2_key) {
        if (!hugging_face()) return config().ints(ctranslate2_key);
        auto list = generation().ints(hugging_face_key);
        return list ? list : config().ints(hugging_face_key);
    }

    void find_suppressed() {
        auto all = ids("suppress_tokens", "suppress_ids");
        auto first = ids("begin_suppress_tokens", "suppress_ids_begin");
        out_.suppress = all ? *all : not_spoken_tokens(out_);
        out_.begin_suppress = first ? *first : blank_tokens(out_);
        for (auto* list : {&out_.suppress, &out_.begin_suppress}) {
            std::erase(*list, -1);  // stands for OpenAI's list in some configurations
            for (int id : *list) {
                if (id >= 0 && id < config_.n_vocab) continue;
                problems_.add(fmt::format("the suppressed token {} is not in the vocabulary", id));
            }
        }
    }

    void find_alignment_heads() {
        const Json& json = hugging_face() ? json_generation_ : json_config_;
        const Json pairs = json.is_object() ? json.value("alignment_heads", Json()) : Json();
        for (const Json& pair : pairs) {
            bool shaped = pair.is_array() && pair.size() == 2;
            auto layer = shaped ? json_int(pair[0]) : std::nullopt;
            auto head = shaped ? json_int(pair[1]) : std::nullopt;
            bool good = layer && head && *layer >= 0 && *layer < config_.decoder.n_layers &&
                        *head >= 0 && *head < config_.decoder.n_heads;
            if (!good) {
                problems_.add("alignment_heads names a head that the decoder does not have");
                return;
            }
            out_.alignment_heads.insert(out_.alignment_heads.end(), {*layer, *head});
        }
    }

    const Checkpoint& from_;
    const WhisperConfig& config_;
    Json json_config_, json_generation_;
    WhisperTokens out_;
    Problems problems_;
};

}  // namespace

Expected<WhisperTokens> read_whisper_tokens(const Checkpoint& from, const WhisperConfig& config) {
    return TokenReader(from, config).read();
}

}  // namespace transcribe
