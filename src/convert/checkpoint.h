// A checkpoint as its own tools wrote it: named tensors over mapped files. What the names mean is
// the business of a family's mapping (convert/whisper_tensors.cpp).
//
// Shapes are slow-first here, as the sources write them; GGUF's are fast-first. Data is not
// aligned.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/audio_source.h"
#include "base/error.h"
#include "tensor/dtype.h"
#include "tensor/gguf.h"
#include "tensor/mapped_file.h"

namespace transcribe {

struct SourceTensor {
    Dtype type{};
    std::vector<i64> shape;  // slowest first; empty for a scalar
    std::span<const std::byte> data;
    std::span<const std::byte> scale;  // of i8: one f32 for each index of the first axis

    i64 n_elements() const;
    // The bytes of elements [first, first + n), which fill whole blocks.
    std::span<const std::byte> part(i64 first, i64 n) const;
    // Elements [first, first + out.size()) as floats; those of i8 are value / scale.
    void read(i64 first, std::span<float> out) const;
};

struct Checkpoint {
    // The first three index names::spellings. bare: weights without a config beside them.
    enum class Format { hugging_face, ctranslate2, whisper_cpp, gguf, bare };
    Format format{};
    std::string directory;     // of whisper_cpp and gguf: the file
    std::string architecture;  // "whisper", or what else the source says it is
    // Of a model that is made of two: where its language model's config and tokenizer are. Empty:
    // in the usual places.
    std::string lm_directory;
    std::map<std::string, SourceTensor, std::less<>> tensors;
    std::vector<MappedFile> files;     // with `gguf` own the tensors' data
    std::shared_ptr<const Gguf> gguf;  // of that format

    const SourceTensor* find(std::string_view name) const {
        auto found = tensors.find(name);
        return found == tensors.end() ? nullptr : &found->second;
    }
    // For who has read `part` once: takes its pages out of memory.
    void release(std::span<const std::byte> part) const;
    std::string path(const std::string& file_name) const { return directory + "/" + file_name; }
};

// A Hugging Face, CTranslate2 or Silero VAD directory, or a model file, whichever it is.
// Errors: not_found, io, bad_model, unsupported.
Expected<Checkpoint> open_checkpoint(const std::string& directory);

// Elements of a shape; false where they do not fit 62 bits.
bool shape_elements(const std::vector<i64>& shape, i64& n_elements);
// Whether n_bytes is what elements of this type and shape take. Not for quantized types.
bool shape_fills(const std::vector<i64>& shape, Dtype, std::uint64_t n_bytes);

std::string shape_text(const std::vector<i64>& shape);  // "[384, 80, 3]"

}  // namespace transcribe
