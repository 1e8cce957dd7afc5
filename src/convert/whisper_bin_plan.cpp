// What a .bin leaves out follows from its number of tokens: special tokens stand behind the words,
// in the reference's order (openai-whisper, tokenizer.py).
#include <fmt/format.h>

#include "asr/languages.h"
#include "convert/whisper.h"
#include "convert/whisper_bin.h"
#include "text/byte_alphabet.h"

namespace transcribe {

namespace {

constexpr int n_vocab_english = 51864;
constexpr int n_words_english = 50256, n_words_multilingual = 50257;
// Special tokens without languages: end of text to no timestamps, and the timestamps.
constexpr int n_specials = 8 + 1501;

WhisperConfig config_of(const WhisperBin& bin) {
    auto side = [](const WhisperBin::Side& s) {
        return WhisperConfig::Side{s.n_layers, s.n_heads, 4 * s.width};
    };
    WhisperConfig out;
    out.encoder = side(bin.audio);
    out.decoder = side(bin.text);
    out.d_model = bin.audio.width;
    out.n_mels = bin.n_mels;
    out.n_vocab = bin.n_vocab;
    out.n_source_positions = bin.audio.n_ctx;
    out.n_target_positions = bin.text.n_ctx;
    return out;
}

WhisperTokens tokens_of(const WhisperBin& bin) {
    bool english = bin.n_vocab == n_vocab_english;
    int n_words = english ? n_words_english : n_words_multilingual;
    auto codes = languages().first(static_cast<size_t>(bin.n_vocab - n_words - n_specials));
    WhisperTokens out;
    SourceVocabulary& v = out.vocabulary;
    for (size_t i = 0; i < bin.words.size() && i < static_cast<size_t>(n_words); i++) {
        v.set(static_cast<int>(i), piece_of_bytes(bin.words[i]), SourceVocabulary::normal);
    }
    int next = n_words;
    auto special = [&](std::string_view name) {
        v.set(next, fmt::format("<|{}|>", name), SourceVocabulary::control);
        return next++;
    };
    out.end_of_text = special("endoftext");
    out.start = special("startoftranscript");
    for (const Language& language : codes) special(language.code);
    out.translate = special("translate");
    out.transcribe = special("transcribe");
    special("startoflm");
    out.previous = special("startofprev");
    special("nospeech");
    out.no_timestamps = special("notimestamps");
    name_timestamps(v, next, bin.n_vocab);
    v.fill_holes(bin.n_vocab);
    v.complete_merges();
    out.languages = {"en"};
    if (!english) out.languages.assign(codes.size(), "");
    for (size_t i = 0; i < out.languages.size(); i++) out.languages[i] = codes[i].code;
    out.suppress = not_spoken_tokens(out);
    out.begin_suppress = blank_tokens(out);
    return out;
}

}  // namespace

Expected<ModelPlan> plan_whisper_bin(const WhisperBin& bin, const std::string& name) {
    WhisperConfig config = config_of(bin);
    TRY_SET(auto tensors, plan_whisper_tensors(bin.checkpoint, config, bin.filters));
    return whisper_plan(name, config, tokens_of(bin), std::move(tensors));
}

}  // namespace transcribe
