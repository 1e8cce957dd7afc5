// Byte-level BPE (GPT-2, Whisper, Qwen): text is cut into words, a word into its bytes, and the
// pair of neighbours with the lowest rank merges until no pair is left; of equal ranks the left one
// goes first.
//
// Where a file lists no merges, the ids are the ranks: two neighbours merge when together they are
// a token, and a word that is a token is taken whole (OpenAI's own vocabularies are made that way).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <queue>

#include "base/text.h"
#include "text/bpe_tables.h"
#include "text/byte_alphabet.h"
#include "text/tokenizer.h"
#include "text/words.h"

namespace transcribe {

namespace {

enum TokenType {
    type_normal = 1,
    type_unknown = 2,
    type_control = 3,
    type_user = 4,
    type_unused = 5
};

class Bpe final : public Tokenizer {
  public:
    Bpe(Vocabulary vocabulary, WordRules rules)
        : vocabulary_(std::move(vocabulary)),
          rules_(rules),
          index_(vocabulary_.tokens),
          merges_(vocabulary_.merges.size()) {}

    Status read() {
        Problems problems;
        read_pieces(problems);
        read_merges(problems);
        std::vector<std::string>().swap(vocabulary_.merges);
        return problems.done(Code::bad_model, "the tokenizer of this model file is damaged");
    }

    int n_tokens() const override { return static_cast<int>(vocabulary_.tokens.size()); }
    int find(std::string_view piece) const override { return index_.find(piece); }
    bool is_control(int id) const override { return has(id) && type_of(id) == type_control; }
    std::string_view bytes(int id) const override {
        if (!has(id)) return {};
        auto i = static_cast<size_t>(id);
        return std::string_view(bytes_).substr(offsets_[i], offsets_[i + 1] - offsets_[i]);
    }
    std::string decode(const std::vector<int>& ids) const override {
        std::string out;
        for (int id : ids) out += bytes(id);
        return out;
    }
    std::vector<int> encode(std::string_view text) const override;

  private:
    struct Symbol {
        int id;      // -1: merged into the one before
        int before;  // -1: first
        int after;   // -1: last
    };
    struct Candidate {
        Merge merge;
        int at;  // of the left symbol
        int left, right;
        bool operator>(const Candidate& other) const {
            return merge.rank != other.merge.rank ? merge.rank > other.merge.rank : at > other.at;
        }
    };
    using Queue = std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>>;

    void read_pieces(Problems&);
    void read_merges(Problems&);
    // The id of what merges, or -1 when `text` is no merge of this vocabulary.
    int add_merge(std::string_view text, Merge guess);

    bool has(int id) const { return id >= 0 && id < n_tokens(); }
    int type_of(int id) const {
        return vocabulary_.types.empty() ? type_normal : vocabulary_.types[static_cast<size_t>(id)];
    }
    // -1 where text must never become this token.
    int only_normal(int id) const { return id >= 0 && type_of(id) == type_normal ? id : -1; }
    const std::string& piece(int id) const { return vocabulary_.tokens[static_cast<size_t>(id)]; }

    Merge merge_of(int left, int right) const;
    std::vector<Symbol> symbols_of(std::string_view word) const;
    void push_pair(const std::vector<Symbol>& symbols, int at, Queue& queue) const;
    void merge_all(std::vector<Symbol>& symbols) const;
    void encode_word(std::string_view word, std::vector<int>& out) const;

    Vocabulary vocabulary_;
    WordRules rules_;
    PieceIndex index_;  // views vocabulary_
    MergeTable merges_;
    std::string bytes_;  // of all tokens, one after another
    std::vector<size_t> offsets_;
    std::array<int, 256> id_of_byte_{};
};

void Bpe::read_pieces(Problems& problems) {
    offsets_ = {0};
    offsets_.reserve(vocabulary_.tokens.size() + 1);
    for (int id = 0; id < n_tokens(); id++) {
        int type = type_of(id);
        if (type == type_user) {
            bytes_ += piece(id);
        } else if (type != type_control && type != type_unknown && type != type_unused &&
                   !append_piece_bytes(piece(id), bytes_)) {
            problems.add(
                fmt::format("token {} (\"{}\") is not written in the byte alphabet of GPT-2", id,
                            printable(piece(id), 40)));
        }
        offsets_.push_back(bytes_.size());
    }
    for (size_t byte = 0; byte < id_of_byte_.size(); byte++) {
        char c = static_cast<char>(byte);
        id_of_byte_[byte] = only_normal(index_.find(piece_of_bytes({&c, 1})));
    }
}

void Bpe::read_merges(Problems& problems) {
    int id = -1;
    for (size_t i = 0; i < vocabulary_.merges.size(); i++) {
        // Merges mostly stand in the order of the tokens that they make.
        id = add_merge(vocabulary_.merges[i], {.rank = static_cast<int>(i), .id = id + 1});
        if (id >= 0) continue;
        problems.add(fmt::format("merge {} (\"{}\") is not two tokens that make a third", i,
                                 printable(vocabulary_.merges[i], 40)));
    }
}

int Bpe::add_merge(std::string_view text, Merge guess) {
    size_t space = text.find(' ');
    if (space == std::string_view::npos) return -1;
    std::string_view left = text.substr(0, space), right = text.substr(space + 1);
    int left_id = only_normal(index_.find(left));
    int right_id = only_normal(index_.find(right));
    int id = only_normal(index_.find(left, right, guess.id));
    if (left.empty() || right.empty() || left_id < 0 || right_id < 0 || id < 0) return -1;
    merges_.add(left_id, right_id, {guess.rank, id});
    return id;
}

Merge Bpe::merge_of(int left, int right) const {
    if (!merges_.empty()) return merges_.find(left, right);
    int id = only_normal(index_.find(piece(left), piece(right)));
    return {id, id};
}

// A byte that is no token of this vocabulary is left out.
std::vector<Bpe::Symbol> Bpe::symbols_of(std::string_view word) const {
    std::vector<Symbol> symbols;
    symbols.reserve(word.size());
    for (char c : word) {
        int id = id_of_byte_[static_cast<unsigned char>(c)];
        if (id < 0) continue;
        int at = static_cast<int>(symbols.size());
        symbols.push_back({id, at - 1, at + 1});
    }
    if (!symbols.empty()) symbols.back().after = -1;
    return symbols;
}

void Bpe::push_pair(const std::vector<Symbol>& symbols, int at, Queue& queue) const {
    if (at < 0) return;
    const Symbol& left = symbols[static_cast<size_t>(at)];
    if (left.after < 0) return;
    int right_id = symbols[static_cast<size_t>(left.after)].id;
    Merge merge = merge_of(left.id, right_id);
    if (merge.rank >= 0) queue.push({merge, at, left.id, right_id});
}

void Bpe::merge_all(std::vector<Symbol>& symbols) const {
    Queue queue;
    for (int at = 0; at < static_cast<int>(symbols.size()); at++) push_pair(symbols, at, queue);
    while (!queue.empty()) {
        Candidate best = queue.top();
        queue.pop();
        Symbol& left = symbols[static_cast<size_t>(best.at)];
        if (left.id != best.left || left.after < 0) continue;  // merged since
        Symbol& right = symbols[static_cast<size_t>(left.after)];
        if (right.id != best.right) continue;
        left.id = best.merge.id;
        right.id = -1;
        left.after = right.after;
        if (left.after >= 0) symbols[static_cast<size_t>(left.after)].before = best.at;
        push_pair(symbols, left.before, queue);
        push_pair(symbols, best.at, queue);
    }
}

void Bpe::encode_word(std::string_view word, std::vector<int>& out) const {
    if (merges_.empty()) {
        int id = only_normal(index_.find(piece_of_bytes(word)));
        if (id >= 0) {
            out.push_back(id);
            return;
        }
    }
    std::vector<Symbol> symbols = symbols_of(word);
    merge_all(symbols);
    for (const Symbol& symbol : symbols) {
        if (symbol.id >= 0) out.push_back(symbol.id);
    }
}

std::vector<int> Bpe::encode(std::string_view text) const {
    std::vector<int> ids;
    std::string normal;
    if (rules_ == WordRules::qwen2) text = normal = normalize_nfc(text);
    for (std::string_view word : split_words(text, rules_)) encode_word(word, ids);
    return ids;
}

}  // namespace

Expected<std::unique_ptr<const Tokenizer>> Tokenizer::make(Vocabulary vocabulary) {
    if (vocabulary.model != "gpt2") {
        return Error{Code::unsupported,
                     fmt::format("this model's tokenizer is of kind \"{}\"; only \"gpt2\" is known",
                                 printable(vocabulary.model, 40))};
    }
    bool is_qwen2 = vocabulary.pre == "qwen2";
    if (!is_qwen2 && vocabulary.pre != "gpt2" && !vocabulary.pre.empty()) {
        return Error{Code::unsupported,
                     fmt::format("this model's tokenizer cuts words by the rules \"{}\"; "
                                 "only \"gpt2\" and \"qwen2\" are known",
                                 printable(vocabulary.pre, 40))};
    }
    if (vocabulary.tokens.empty()) {
        return Error{Code::bad_model, "the tokenizer of this model file has no tokens"};
    }
    if (!vocabulary.types.empty() && vocabulary.types.size() != vocabulary.tokens.size()) {
        return Error{Code::bad_model,
                     fmt::format("the tokenizer of this model file has {} tokens and {} types",
                                 vocabulary.tokens.size(), vocabulary.types.size())};
    }
    auto bpe =
        std::make_unique<Bpe>(std::move(vocabulary), is_qwen2 ? WordRules::qwen2 : WordRules::gpt2);
    TRY(bpe->read());
    return std::unique_ptr<const Tokenizer>(std::move(bpe));
}

}  // namespace transcribe
