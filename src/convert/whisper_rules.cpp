// What OpenAI's code makes of a vocabulary (openai-whisper, tokenizer.py and decoding.py), for
// sources that do not list it.
#include <fmt/format.h>

#include <set>

#include "convert/whisper.h"

namespace transcribe {

namespace {

constexpr int n_timestamps = 1501;  // 0.00 s to 30.00 s
constexpr double timestamp_s = 0.02;

// Symbols that are noted rather than spoken: alone, or the start of a token of their own.
constexpr std::string_view symbols[] = {
    "\"",  "#",  "(",  ")",   "*",   "+",   "/",   ":",  ";",   "<",  "=",  ">",
    "@",   "[",  "\\", "]",   "^",   "_",   "`",   "{",  "|",   "}",  "~",  "「",
    "」",  "『", "』", "<<",  ">>",  "<<<", ">>>", "--", "---", "-(", "-[", "('",
    "(\"", "((", "))", "(((", ")))", "[[",  "]]",  "{{", "}}",  "♪♪", "♪♪♪"};
constexpr std::string_view notes[] = {"♩", "♪", "♫", "♬", "♭", "♮", "♯"};

}  // namespace

void name_timestamps(SourceVocabulary& vocabulary, int first, int n_vocab) {
    for (int i = 0; i < n_timestamps && first + i < n_vocab; i++) {
        vocabulary.set(first + i, fmt::format("<|{:.2f}|>", i * timestamp_s),
                       SourceVocabulary::control);
    }
}

std::vector<int> blank_tokens(const WhisperTokens& tokens) {
    auto space = tokens.vocabulary.encode_first(" ").first;
    return space ? std::vector{*space, tokens.end_of_text} : std::vector{tokens.end_of_text};
}

std::vector<int> not_spoken_tokens(const WhisperTokens& tokens) {
    std::set<int> out;
    auto add = [&](const std::string& bytes, bool in_parts) {
        auto [id, n] = tokens.vocabulary.encode_first(bytes);
        if (id && (n == 1 || in_parts)) out.insert(*id);
    };
    add(" -", true);
    add(" '", true);
    for (std::string_view symbol : symbols) {
        add(std::string(symbol), false);
        add(" " + std::string(symbol), false);
    }
    for (std::string_view note : notes) {
        add(std::string(note), true);
        add(" " + std::string(note), true);
    }
    int no_speech = tokens.no_timestamps - 1;
    for (auto id :
         {std::optional(tokens.start), tokens.transcribe, tokens.translate, tokens.previous,
          tokens.vocabulary.find("<|startoflm|>"), std::optional(no_speech)}) {
        if (id) out.insert(*id);
    }
    return {out.begin(), out.end()};
}

}  // namespace transcribe
