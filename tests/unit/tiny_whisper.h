// A Whisper of one layer and 17 tokens as checkpoint folders, in the spelling of Hugging Face and
// of CTranslate2, with the same weights.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model_files.h"

namespace transcribe::test::tiny_whisper {

using Json = nlohmann::json;

constexpr int d = 32, f = 64, n_mels = 8, n_vocab = 17, n_source = 10, n_target = 6;

struct Array {
    std::vector<int> shape;
    std::vector<float> values;
};
using Arrays = std::map<std::string, Array>;

// Values that F16 holds exactly, different in each tensor.
inline void add(Arrays& to, const std::string& name, std::vector<int> shape) {
    size_t n = 1;
    for (int dim : shape) n *= static_cast<size_t>(dim);
    Array array{std::move(shape), std::vector<float>(n)};
    size_t seed = std::hash<std::string>()(name);
    for (size_t i = 0; i < n; i++) {
        array.values[i] = static_cast<float>((seed + i * 7919) % 1021) / 1024 - 0.5f;
    }
    to.emplace(name, std::move(array));
}

inline void add_linear(Arrays& to, const std::string& name, int n_out, int n_in, bool bias = true) {
    add(to, name + ".weight", {n_out, n_in});
    if (bias) add(to, name + ".bias", {n_out});
}

inline void add_norm(Arrays& to, const std::string& name) {
    add(to, name + ".weight", {d});
    add(to, name + ".bias", {d});
}

inline void add_attention(Arrays& to, const std::string& name) {
    for (const char* leaf : {".q_proj", ".v_proj", ".out_proj"}) add_linear(to, name + leaf, d, d);
    add_linear(to, name + ".k_proj", d, d, false);
    add_norm(to, name + "_layer_norm");
}

inline Arrays hugging_face_arrays() {
    Arrays out;
    std::string enc = "model.encoder.", dec = "model.decoder.";
    add(out, enc + "conv1.weight", {d, n_mels, 3});
    add(out, enc + "conv1.bias", {d});
    add(out, enc + "conv2.weight", {d, d, 3});
    add(out, enc + "conv2.bias", {d});
    add(out, enc + "embed_positions.weight", {n_source, d});
    add(out, dec + "embed_positions.weight", {n_target, d});
    add(out, dec + "embed_tokens.weight", {n_vocab, d});
    for (const std::string& side : {enc, dec}) {
        add_norm(out, side + "layer_norm");
        add_attention(out, side + "layers.0.self_attn");
        add_linear(out, side + "layers.0.fc1", f, d);
        add_linear(out, side + "layers.0.fc2", d, f);
        add_norm(out, side + "layers.0.final_layer_norm");
    }
    add_attention(out, dec + "layers.0.encoder_attn");
    return out;
}

inline std::string safetensors(const Arrays& arrays) {
    Json header = Json::object();
    std::string data;
    for (const auto& [name, array] : arrays) {
        size_t begin = data.size();
        for (float v : array.values) data += raw(v);
        header[name] = {
            {"dtype", "F32"}, {"shape", array.shape}, {"data_offsets", {begin, data.size()}}};
    }
    std::string text = header.dump();
    return raw<u64>(text.size()) + text + data;
}

inline const std::vector<std::string> pieces = {"a",
                                                "b",
                                                "ab",
                                                "Ġ",
                                                "<|endoftext|>",
                                                "<|startoftranscript|>",
                                                "<|en|>",
                                                "<|de|>",
                                                "<|translate|>",
                                                "<|transcribe|>",
                                                "<|startoflm|>",
                                                "<|startofprev|>",
                                                "<|nospeech|>",
                                                "<|notimestamps|>"};

inline Json tokenizer_json() {
    Json vocab = Json::object(), added = Json::array();
    for (size_t i = 0; i < 4; i++) vocab[pieces[i]] = i;
    for (size_t i = 4; i < pieces.size(); i++) {
        added.push_back({{"id", i}, {"content", pieces[i]}, {"special", true}});
    }
    return {{"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", {"a b"}}}},
            {"added_tokens", added}};
}

inline Json config_json() {
    return {{"model_type", "whisper"},
            {"d_model", d},
            {"encoder_layers", 1},
            {"decoder_layers", 1},
            {"encoder_attention_heads", 2},
            {"decoder_attention_heads", 2},
            {"encoder_ffn_dim", f},
            {"decoder_ffn_dim", f},
            {"num_mel_bins", n_mels},
            {"vocab_size", n_vocab},
            {"max_source_positions", n_source},
            {"max_target_positions", n_target}};
}

inline void write_hugging_face(const std::string& folder, const Arrays& arrays) {
    std::filesystem::create_directories(folder);
    Json generation = {{"is_multilingual", true},
                       {"suppress_tokens", {1, 2}},
                       {"begin_suppress_tokens", {3, 4}},
                       {"alignment_heads", {{0, 1}}}};
    write_file(folder + "/config.json", config_json().dump());
    write_file(folder + "/generation_config.json", generation.dump());
    write_file(folder + "/tokenizer.json", tokenizer_json().dump());
    write_file(folder + "/model.safetensors", safetensors(arrays));
}

inline std::string ct2_name(const std::string& s) {
    return raw(static_cast<std::uint16_t>(s.size() + 1)) + s + '\0';
}

class Ct2Bytes {
  public:
    void put(const std::string& name, const std::vector<int>& shape,
             const std::vector<float>& values) {
        begin(name, shape);
        bytes_ += raw<u8>(0) + raw(static_cast<u32>(values.size() * sizeof(float)));
        for (float v : values) bytes_ += raw(v);
    }
    void attribute(const std::string& name, std::int16_t value) {
        begin(name, {});
        bytes_ += raw<u8>(2) + raw<u32>(2) + raw(value);
    }
    std::string file() const {
        return raw<u32>(6) + ct2_name("WhisperSpec") + raw<u32>(3) + raw(n_) + bytes_ +
               raw<u32>(1) + ct2_name("decoder/projection/weight") +
               ct2_name("decoder/embeddings/weight");
    }

  private:
    void begin(const std::string& name, const std::vector<int>& shape) {
        n_++;
        bytes_ += ct2_name(name) + raw(static_cast<u8>(shape.size()));
        for (int n : shape) bytes_ += raw(static_cast<u32>(n));
    }
    u32 n_ = 0;
    std::string bytes_;
};

class Ct2Writer {
  public:
    explicit Ct2Writer(const Arrays& from) : from_(from) {}

    std::string file() {
        for (const std::string side : {"encoder", "decoder"}) {
            std::string theirs = "model." + side + ".layers.0.", ours = side + "/layer_0/";
            out_.attribute(side + "/num_heads", 2);
            copy(side + "/position_encodings/encodings",
                 "model." + side + ".embed_positions.weight");
            norm(side + "/layer_norm", "model." + side + ".layer_norm");
            self_attention(ours + "self_attention", theirs + "self_attn");
            linear(ours + "ffn/linear_0", theirs + "fc1");
            linear(ours + "ffn/linear_1", theirs + "fc2");
            norm(ours + "ffn/layer_norm", theirs + "final_layer_norm");
        }
        for (const std::string conv : {"conv1", "conv2"}) {
            linear("encoder/" + conv, "model.encoder." + conv);
        }
        copy("decoder/embeddings/weight", "model.decoder.embed_tokens.weight");
        cross_attention("decoder/layer_0/attention", "model.decoder.layers.0.encoder_attn");
        return out_.file();
    }

  private:
    void copy(const std::string& name, const std::string& from) {
        out_.put(name, from_.at(from).shape, from_.at(from).values);
    }
    void linear(const std::string& name, const std::string& from) {
        copy(name + "/weight", from + ".weight");
        copy(name + "/bias", from + ".bias");
    }
    void norm(const std::string& name, const std::string& from) {
        copy(name + "/gamma", from + ".weight");
        copy(name + "/beta", from + ".bias");
    }
    void fused(const std::string& name, const std::vector<std::string>& parts) {
        std::vector<float> weights, biases;
        for (const std::string& part : parts) {
            const auto& w = from_.at(part + ".weight").values;
            weights.insert(weights.end(), w.begin(), w.end());
            auto b = from_.find(part + ".bias");
            auto bias = b == from_.end() ? std::vector<float>(d) : b->second.values;
            biases.insert(biases.end(), bias.begin(), bias.end());
        }
        int n = static_cast<int>(parts.size()) * d;
        out_.put(name + "/weight", {n, d}, weights);
        out_.put(name + "/bias", {n}, biases);
    }
    void self_attention(const std::string& name, const std::string& from) {
        fused(name + "/linear_0", {from + ".q_proj", from + ".k_proj", from + ".v_proj"});
        linear(name + "/linear_1", from + ".out_proj");
        norm(name + "/layer_norm", from + "_layer_norm");
    }
    void cross_attention(const std::string& name, const std::string& from) {
        linear(name + "/linear_0", from + ".q_proj");
        fused(name + "/linear_1", {from + ".k_proj", from + ".v_proj"});
        linear(name + "/linear_2", from + ".out_proj");
        norm(name + "/layer_norm", from + "_layer_norm");
    }

    const Arrays& from_;
    Ct2Bytes out_;
};

inline void write_ctranslate2(const std::string& folder, const Arrays& arrays) {
    std::filesystem::create_directories(folder);
    Json config = {{"suppress_ids", {1, 2}},
                   {"suppress_ids_begin", {3, 4}},
                   {"alignment_heads", {{0, 1}}},
                   {"lang_ids", {6, 7}}};
    write_file(folder + "/config.json", config.dump());
    write_file(folder + "/generation_config.json", R"({"is_multilingual":true})");
    write_file(folder + "/tokenizer.json", tokenizer_json().dump());
    write_file(folder + "/model.bin", Ct2Writer(arrays).file());
}

}  // namespace transcribe::test::tiny_whisper
