// The models that have a name: where each comes from, how large it is, and what its files must sum
// to.
//
// Sources are pinned: a Hugging Face repository at one commit with the sha256 of the weights, and
// for some models Python packages that carry the same weights in another format; for the voice
// detector the package alone.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/audio_source.h"
#include "tensor/dtype.h"

namespace transcribe {

struct HubSource {
    const char* repo;      // "openai/whisper-tiny"; "": none
    const char* revision;  // commit
    i64 n_bytes;           // of model.safetensors
    const char* sha256;    // of model.safetensors
};

// A file of the model and where it lies inside the unpacked packages; several parts are joined.
struct PackedFile {
    const char* name;
    const char* sha256;  // of the whole file
    std::vector<const char*> parts;
};

struct PipSource {
    std::vector<const char*> requirements;  // "name==version"
    std::vector<PackedFile> files;
};

struct ModelSpec {
    const char* name;
    const char* alias;  // another name for it, or ""
    const char* license;
    const char* languages;  // for people to read
    int n_mparams;          // parameters in millions
    int size_mb;            // of the cached model
    HubSource hub;
    const PipSource* pip;     // nullptr: none
    Dtype type = Dtype::f16;  // of the cached model
};

// What the program uses when nobody names a model.
constexpr std::string_view default_model = "base";
constexpr std::string_view default_vad_model = "silero-vad";

std::span<const ModelSpec> model_specs();

// By name or alias; nullptr when there is none.
const ModelSpec* find_model_spec(std::string_view name);

}  // namespace transcribe
