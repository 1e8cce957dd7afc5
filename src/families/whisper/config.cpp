#include "families/whisper/config.h"

#include <fmt/format.h>

#include "families/model_keys.h"

namespace transcribe::whisper {

namespace {

constexpr int n_text_ctx_min = 32;  // a prefix and half of it sampled fit, and what frames them
constexpr int n_pairs_max = 1024;   // of a layer and a head
constexpr int n_layers_max = 256, n_heads_max = 256, d_max = 1 << 14, n_vocab_max = 1 << 20;

TransformerSpec read_transformer(KvReader kv) {
    TransformerSpec spec;
    spec.n_layers = kv.i32("n_layers", 1, n_layers_max);
    spec.n_heads = kv.i32("n_heads", 1, n_heads_max);
    spec.d = kv.i32("d_model", 1, d_max);
    spec.d_ff = kv.i32("ffn_dim", 1, 4 * d_max);
    kv.require(spec.d % spec.n_heads == 0, "d_model is a multiple of n_heads");
    kv.require(kv.str("activation") == "gelu", "activation is gelu");
    return spec;
}

MelSpec read_mel(KvReader kv, int n_mels) {
    MelSpec spec;
    spec.n_mels = n_mels;
    spec.n_fft = kv.i32("n_fft", 400, 400);
    spec.hop = kv.i32("hop_length", 160, 160);
    kv.require(kv.i32("num_mels", 1, 512) == n_mels, "num_mels is the encoder's num_mel_bins");
    kv.i32("sample_rate", sample_rate, sample_rate);
    kv.i32("win_length", 400, 400);
    kv.require(kv.str("type") == "mel", "type is mel");
    kv.require(kv.str_or("normalize", "whisper_logmel") == "whisper_logmel",
               "normalize is whisper_logmel");
    kv.require(kv.str_or("pad_mode", "reflect") == "reflect", "pad_mode is reflect");
    kv.require(kv.f32_or("dither", 0) == 0, "dither is 0");
    kv.require(kv.f32_or("pre_emphasis", 0) == 0, "pre_emphasis is 0");
    kv.require(kv.flag_or("center", true), "center is true");
    return spec;
}

ModelInfo read_info(KvReader kv, const Config& c) {
    ModelInfo info = read_general_info(kv, "whisper", "whisper");
    info.languages = c.multilingual() ? c.languages : std::vector<std::string>{"en"};
    info.translates = c.multilingual() && c.ids.translate >= 0;
    info.detects_language = c.multilingual();
    info.has_timestamps = true;
    info.has_words = true;
    return info;
}

SpecialTokens read_special(KvReader kv, const Tokenizer& tokenizer) {
    SpecialTokens ids;
    ids.n_vocab = tokenizer.n_tokens();
    ids.sot = read_special_token(kv, tokenizer, "decoder_start_token_id", "<|startoftranscript|>");
    ids.no_timestamps =
        read_special_token(kv, tokenizer, "no_timestamps_token_id", "<|notimestamps|>");
    ids.transcribe = read_special_token(kv, tokenizer, "transcribe_token_id", "<|transcribe|>");
    ids.translate = read_special_token(kv, tokenizer, "translate_token_id", "<|translate|>");
    ids.sot_prev = read_special_token(kv, tokenizer, "prev_sot_token_id", "<|startofprev|>");
    ids.eot = read_special_token(kv, tokenizer, "eot_token_id", "<|endoftext|>");
    ids.sot_lm = tokenizer.find("<|startoflm|>");
    ids.no_speech = ids.no_timestamps - 1;
    ids.timestamp_begin = ids.no_timestamps + 1;
    kv.require(ids.no_timestamps > 0 && ids.timestamp_begin < ids.n_vocab,
               "timestamp tokens follow the no-timestamps token");
    return ids;
}

// The key holds pairs of layer and head, flat. Without it all heads of the upper half of the
// layers.
std::vector<std::vector<int>> read_alignment_heads(KvReader kv, const TransformerSpec& dec) {
    std::vector<int> flat = kv.ints("alignment_heads");
    std::vector<std::vector<int>> heads(static_cast<size_t>(dec.n_layers));
    auto add = [&](int layer, int head) { heads[static_cast<size_t>(layer)].push_back(head); };
    for (int layer = dec.n_layers / 2; flat.empty() && layer < dec.n_layers; layer++) {
        for (int head = 0; head < dec.n_heads; head++) add(layer, head);
    }
    bool valid = flat.size() % 2 == 0 && flat.size() / 2 <= static_cast<size_t>(n_pairs_max);
    for (size_t i = 0; valid && i < flat.size(); i += 2) {
        int layer = flat[i], head = flat[i + 1];
        valid = layer >= 0 && layer < dec.n_layers && head >= 0 && head < dec.n_heads;
        if (valid) add(layer, head);
    }
    kv.require(valid, fmt::format("alignment_heads holds pairs of a layer below {} and a head "
                                  "below {}",
                                  dec.n_layers, dec.n_heads));
    return heads;
}

// Ids of the file that lie outside of the vocabulary are no tokens to forbid.
std::vector<int> valid_ids(std::vector<int> ids, int n_vocab) {
    std::erase_if(ids, [&](int id) { return id < 0 || id >= n_vocab; });
    return ids;
}

}  // namespace

std::string text_of(const Facts& facts, std::span<const int> tokens) {
    std::string bytes;
    for (int id : tokens) {
        if (id < facts.config.ids.timestamp_begin) bytes += facts.tokenizer.bytes(id);
    }
    return bytes;
}

Config read_config(KvReader kv, const Tokenizer& tokenizer) {
    KvReader at = kv.at("stt.whisper"), enc = at.at("encoder"), dec = at.at("decoder");
    Config c;
    c.net.enc = read_transformer(enc);
    c.net.dec = read_transformer(dec);
    c.net.n_mels = enc.i32("num_mel_bins", 1, 512);
    c.net.n_audio_ctx = enc.i32("max_source_positions", 1, 1 << 14);
    c.net.n_text_ctx = dec.i32("max_target_positions", n_text_ctx_min, 1 << 14);
    c.net.n_vocab = dec.i32("vocab_size", 1, n_vocab_max);
    kv.require(c.net.enc.d == c.net.dec.d, "encoder and decoder have the same d_model");
    kv.require(c.net.n_vocab == tokenizer.n_tokens(),
               fmt::format("vocab_size {} is the number of tokens {}", c.net.n_vocab,
                           tokenizer.n_tokens()));
    kv.require(dec.flag_or("tie_word_embeddings", true), "tie_word_embeddings is true");
    kv.require(!dec.flag_or("scale_embedding", false), "scale_embedding is false");
    c.mel = read_mel(kv.at("stt.frontend"), c.net.n_mels);
    c.ids = read_special(at, tokenizer);
    c.alignment_heads = read_alignment_heads(at, c.net.dec);
    c.suppress = valid_ids(at.ints("suppress_tokens"), c.net.n_vocab);
    c.begin_suppress = valid_ids(at.ints("begin_suppress_tokens"), c.net.n_vocab);
    if (c.suppress.empty()) c.suppress = non_speech_tokens(tokenizer);
    if (c.begin_suppress.empty()) {
        c.begin_suppress = tokenizer.encode(" ");
        c.begin_suppress.push_back(c.ids.eot);
    }
    kv.require(are_in_order(c.ids), "end-of-text stands before the timestamp tokens");
    std::vector<std::string> languages = kv.strs("general.languages");
    for (const std::string& code : languages) {
        int id = languages.size() > 1 ? tokenizer.find(fmt::format("<|{}|>", code)) : -1;
        if (id < 0) continue;
        c.languages.push_back(code);
        c.ids.languages.push_back(id);
    }
    c.info = read_info(kv, c);
    return c;
}

}  // namespace transcribe::whisper
