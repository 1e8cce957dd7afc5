#include "convert/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "base/text.h"
#include "convert/byte_bpe.h"
#include "convert/json.h"
#include "text/byte_alphabet.h"

namespace transcribe {

namespace {

constexpr int n_tokens_max = 1 << 20;

bool in_bars(std::string_view piece) {
    return piece.size() > 4 && piece.starts_with("<|") && piece.ends_with("|>");
}

SourceVocabulary::Type added_type(std::string_view piece, bool special, Tokens tokens) {
    bool control = special || (tokens == Tokens::completed && in_bars(piece));
    return control ? SourceVocabulary::control : SourceVocabulary::user_defined;
}

SourceVocabulary::Type plain_type(std::string_view piece) {
    return in_bars(piece) ? SourceVocabulary::control : SourceVocabulary::normal;
}

Error bad(const std::string& where, std::string_view fault) {
    return {Code::bad_model, fmt::format("{}: {}", printable(where), fault)};
}

// Of a file.
struct Origin {
    std::string where;
    Tokens tokens;
};

std::optional<int> token_id(const Json& value) {
    auto id = json_int(value);
    return id && *id >= 0 && *id < n_tokens_max ? id : std::nullopt;
}

// {piece: id}
Status add_pieces(const Json& map, bool added, const std::string& where, SourceVocabulary& into) {
    if (!map.is_object()) return bad(where, "the vocabulary is not an object of pieces and ids");
    for (const auto& [piece, value] : map.items()) {
        auto id = token_id(value);
        if (!id) return bad(where, fmt::format("the id of {} is no id", printable(piece, 40)));
        into.set(*id, piece,
                 added ? added_type(piece, false, Tokens::completed) : plain_type(piece));
    }
    return {};
}

// Each either "a b" or ["a", "b"].
Status add_merges(const Json& list, const std::string& where, SourceVocabulary& into) {
    if (!list.is_array()) return bad(where, "model.merges is not a list");
    for (const Json& merge : list) {
        bool pair =
            merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string();
        if (!pair && !merge.is_string())
            return bad(where, "a merge is neither a string nor a pair");
        into.merges.push_back(pair ? merge[0].get<std::string>() + " " + merge[1].get<std::string>()
                                   : merge.get<std::string>());
    }
    return {};
}

// {content, special}
Status add_special(const Json& token, std::optional<int> id, const Origin& from,
                   SourceVocabulary& into) {
    bool shaped = token.is_object() && token.contains("content") && token["content"].is_string();
    if (!id || !shaped) return bad(from.where, "an added token lacks its id or content");
    auto piece = token["content"].get<std::string>();
    auto special = token.find("special");
    bool is_special = special != token.end() && special->is_boolean() && special->get<bool>();
    into.set(*id, piece, added_type(piece, is_special, from.tokens));
    return {};
}

// [{id, content, special}]
Status add_special(const Json& list, const Origin& from, SourceVocabulary& into) {
    if (list.is_null()) return {};
    if (!list.is_array()) return bad(from.where, "added_tokens is not a list");
    for (const Json& token : list) {
        auto id = token.is_object() ? token_id(token.value("id", Json())) : std::nullopt;
        TRY(add_special(token, id, from, into));
    }
    return {};
}

// tokenizer_config.json, where {id: {content, special}} stands as well.
Status add_decoder(const Json& json, const Origin& from, SourceVocabulary& into) {
    const Json map = json.is_object() ? json.value("added_tokens_decoder", Json()) : Json();
    if (!map.is_object()) return {};
    for (const auto& [key, token] : map.items()) {
        int id = -1;
        auto [end, fault] = std::from_chars(key.data(), key.data() + key.size(), id);
        bool whole = fault == std::errc() && end == key.data() + key.size();
        TRY(add_special(token, whole ? token_id(Json(id)) : std::nullopt, from, into));
    }
    return {};
}

Status add_tokenizer_json(const Json& json, const Origin& from, SourceVocabulary& into) {
    const std::string& where = from.where;
    auto model = json.find("model");
    if (model == json.end() || !model->is_object()) return bad(where, "model is missing");
    std::string type = model->value("type", Json()).is_string() ? (*model)["type"] : "BPE";
    if (type != "BPE")
        return bad(where, fmt::format("a {} tokenizer, not BPE", printable(type, 40)));
    TRY(add_pieces(model->value("vocab", Json()), false, where, into));
    TRY(add_merges(model->value("merges", Json()), where, into));
    return add_special(json.value("added_tokens", Json()), from, into);
}

template <class F>
void for_lines(std::string_view text, F&& each) {
    while (!text.empty()) {
        size_t n = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, n);
        if (line.ends_with('\r')) line.remove_suffix(1);
        each(line);
        text.remove_prefix(std::min(n + 1, text.size()));
    }
}

Status add_vocab_and_merges(const std::string& directory, Tokens tokens, SourceVocabulary& into) {
    TRY_SET(auto vocab, read_json(directory + "/vocab.json"));
    TRY(add_pieces(vocab, false, directory + "/vocab.json", into));
    TRY_SET(auto merges, read_text(directory + "/merges.txt"));
    for_lines(merges, [&](std::string_view line) {
        if (!line.empty() && !line.starts_with("#version")) into.merges.emplace_back(line);
    });
    TRY_SET(auto added, read_json_if_any(directory + "/added_tokens.json"));
    if (!added.is_null()) TRY(add_pieces(added, true, directory + "/added_tokens.json", into));
    std::string path = directory + "/tokenizer_config.json";
    TRY_SET(auto config, read_json_if_any(path));
    return add_decoder(config, {path, tokens}, into);
}

// One piece a line, in order of ids.
void add_vocabulary_txt(std::string_view text, SourceVocabulary& into) {
    int id = 0;
    for_lines(text, [&](std::string_view line) {
        if (id < n_tokens_max) into.set(id++, std::string(line), plain_type(line));
    });
}

Expected<bool> try_tokenizer_json(const std::string& directory, Tokens tokens,
                                  SourceVocabulary& into) {
    std::string path = directory + "/tokenizer.json";
    TRY_SET(auto json, read_json_if_any(path));
    if (json.is_null()) return false;
    TRY(add_tokenizer_json(json, {path, tokens}, into));
    return true;
}

Expected<bool> try_vocabulary_txt(const std::string& directory, SourceVocabulary& into) {
    auto text = read_text(directory + "/vocabulary.txt");
    if (!text && text.error().code == Code::not_found) return false;
    if (!text) return text.error();
    add_vocabulary_txt(*text, into);
    return true;
}

}  // namespace

std::optional<int> SourceVocabulary::find(const std::string& piece) const {
    auto found = ids.find(piece);
    return found == ids.end() ? std::nullopt : std::optional(found->second);
}

void SourceVocabulary::set(int id, std::string piece, Type type) {
    auto at = static_cast<size_t>(id);
    if (at >= tokens.size()) {
        tokens.resize(at + 1);
        types.resize(at + 1, hole);
    }
    ids[piece] = id;
    tokens[at] = std::move(piece);
    types[at] = type;
}

void SourceVocabulary::fill_holes(int n_tokens) {
    tokens.resize(static_cast<size_t>(n_tokens));
    types.resize(static_cast<size_t>(n_tokens), hole);
    for (int id = 0; id < n_tokens; id++) {
        if (types[static_cast<size_t>(id)] == hole)
            set(id, fmt::format("<|unused_{}|>", id), normal);
    }
}

// Vocabularies that say less are completed: vocabulary.txt has no merges, and published tokenizers
// of Whisper lack the first, "Ġ t", without which no word that begins with t is spelled as the
// model learned it.
void SourceVocabulary::complete_merges() {
    std::vector<std::string> words;
    for (size_t i = 0; i < tokens.size(); i++) {
        if (types[i] == normal) words.push_back(tokens[i]);
    }
    auto derived = derive_merges(words);
    std::unordered_set<std::string> known(derived.begin(), derived.end());
    bool all_known = std::ranges::all_of(merges, [&](auto& m) { return known.contains(m); });
    if (all_known) merges = std::move(derived);
}

std::pair<std::optional<int>, size_t> SourceVocabulary::encode_first(std::string_view bytes) const {
    auto rank = [&](const std::string& a, const std::string& b) { return find(a + b); };
    auto parts = merge_word(piece_of_bytes(bytes), rank);
    return {parts.empty() ? std::nullopt : find(parts[0]), parts.size()};
}

Expected<SourceVocabulary> read_vocabulary(const std::string& directory, Tokens tokens) {
    SourceVocabulary out;
    TRY_SET(bool found, try_tokenizer_json(directory, tokens, out));
    if (!found) {
        TRY_SET(found, try_vocabulary_txt(directory, out));
    }
    if (!found) {
        Status read = add_vocab_and_merges(directory, tokens, out);
        if (!read && read.error().code == Code::not_found) {
            return Error{Code::not_found,
                         printable(directory, 1000) +
                             ": no tokenizer.json, and no vocab.json with merges.txt in its place"};
        }
        TRY(read);
    }
    if (tokens == Tokens::completed) out.complete_merges();
    return out;
}

}  // namespace transcribe
