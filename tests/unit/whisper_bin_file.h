// Bytes of a .bin as whisper.cpp writes it: one layer, 32 wide, English vocabulary; every field can
// lie.
#pragma once

#include <random>

#include "model_files.h"

namespace transcribe::test {

using std::int32_t;

struct BinTensor {
    std::string name;
    std::vector<int32_t> shape;  // fastest first
    int32_t type = 0;            // F32
    std::string data;
};

struct BinBytes {
    static constexpr int d = 32, n_vocab = 51864, n_words = 50256, n_audio_ctx = 10,
                         n_text_ctx = 32;

    std::vector<int32_t> sizes = {n_vocab, n_audio_ctx, d, 2, 1, n_text_ctx, d, 2, 1, 80, 1};
    std::vector<int32_t> filter_sizes = {80, 201};
    std::vector<std::string> words;
    int32_t n_claimed = -1;  // as many as there are
    std::vector<BinTensor> tensors;

    BinBytes() {
        for (int i = 0; i < n_words; i++) {
            std::string word(1, static_cast<char>(i % 256));
            for (int n = i / 256; n > 0; n /= 26) word += static_cast<char>('a' + n % 26);
            words.push_back(word);
        }
        add("encoder.positional_embedding", {d, n_audio_ctx});
        add("encoder.conv1.weight", {3, 80, d}, 1);
        add("encoder.conv1.bias", {1, d});
        add("encoder.conv2.weight", {3, d, d}, 1);
        add("encoder.conv2.bias", {1, d});
        add_norm("encoder.ln_post");
        add_block("encoder.blocks.0.", false);
        add("decoder.positional_embedding", {d, n_text_ctx});
        add("decoder.token_embedding.weight", {d, n_vocab}, 1);
        add_norm("decoder.ln");
        add_block("decoder.blocks.0.", true);
    }

    // Zeros in F16, small random values in F32.
    void add(const std::string& name, std::vector<int32_t> shape, int32_t type = 0) {
        size_t n = 1;
        for (int32_t dim : shape) n *= static_cast<size_t>(dim);
        BinTensor tensor{name, std::move(shape), type, {}};
        std::mt19937 random(static_cast<unsigned>(tensors.size()));
        for (size_t i = 0; i < n && type == 0; i++) {
            tensor.data += raw(static_cast<float>(random() % 1000) / 1000);
        }
        if (type == 1) tensor.data.assign(2 * n, '\0');
        tensors.push_back(std::move(tensor));
    }

    BinTensor& at(const std::string& name) {
        for (BinTensor& tensor : tensors) {
            if (tensor.name == name) return tensor;
        }
        ADD_FAILURE() << name;
        return tensors[0];
    }

    std::string header() const {
        std::string out = raw<u32>(0x67676d6c);
        for (int32_t n : sizes) out += raw(n);
        for (int32_t n : filter_sizes) out += raw(n);
        for (int i = 0; i < 80 * 201; i++) out += raw(static_cast<float>(i) / 1000);
        out += raw(n_claimed < 0 ? static_cast<int32_t>(words.size()) : n_claimed);
        for (const std::string& word : words) out += raw(static_cast<u32>(word.size())) + word;
        return out;
    }

    static std::string bytes_of(const BinTensor& tensor) {
        std::string out = raw(static_cast<int32_t>(tensor.shape.size())) +
                          raw(static_cast<int32_t>(tensor.name.size())) + raw(tensor.type);
        for (int32_t dim : tensor.shape) out += raw(dim);
        return out + tensor.name + tensor.data;
    }

    std::string bytes() const {
        std::string out = header();
        for (const BinTensor& tensor : tensors) out += bytes_of(tensor);
        return out;
    }

  private:
    void add_norm(const std::string& name) {
        add(name + ".weight", {d});
        add(name + ".bias", {d});
    }
    void add_attention(const std::string& name) {
        for (const char* leaf : {".query", ".key", ".value", ".out"}) {
            add(name + leaf + ".weight", {d, d}, 1);
            if (std::string(leaf) != ".key") add(name + leaf + ".bias", {d});
        }
        add_norm(name + "_ln");
    }
    void add_block(const std::string& name, bool cross) {
        add_attention(name + "attn");
        if (cross) add_attention(name + "cross_attn");
        add_norm(name + "mlp_ln");
        add(name + "mlp.0.weight", {d, 4 * d}, 1);
        add(name + "mlp.0.bias", {4 * d});
        add(name + "mlp.2.weight", {4 * d, d}, 1);
        add(name + "mlp.2.bias", {d});
    }
};

}  // namespace transcribe::test
