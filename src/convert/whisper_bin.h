// whisper.cpp's own model file, the .bin that its converters wrote before and beside GGUF.
//
// All little endian and without alignment: magic; eleven i32 sizes; the mel filters (i32 rows, i32
// columns, f32 each); the vocabulary (i32 count; u32 length and bytes each), in which only text
// tokens have names and a token's place is its merge rank; tensors to the end of the file (i32
// dimensions, name length and ggml type; i32 each dimension, fastest first; name; data).
// What bites: a bias of a convolution is [1, d]; quantized files say in `ftype` which layout of
// blocks they have, and only the present one can be read.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convert/checkpoint.h"
#include "convert/model_plan.h"

namespace transcribe {

struct WhisperBin {
    struct Side {
        int n_ctx = 0, width = 0, n_heads = 0, n_layers = 0;
    };
    int n_vocab = 0, n_mels = 0, ftype = 0;
    Side audio, text;
    std::vector<float> filters;  // [201, n_mels]
    std::vector<std::string_view> words;
    Checkpoint checkpoint;  // tensors under the file's names; owns all data
};

bool is_whisper_bin(std::span<const std::byte> file);  // by its magic number

// Errors: bad_model (cut, or contradicts itself), unsupported (something else behind the same magic
// number, types that this program does not know).
Expected<WhisperBin> read_whisper_bin(const std::string& path, MappedFile file);

// In the terms of our files: names, keys, tokens.
Expected<ModelPlan> plan_whisper_bin(const WhisperBin&, const std::string& name);

}  // namespace transcribe
