#include "convert/whisper_bin.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "tensor/byte_reader.h"

namespace transcribe {

namespace {

using std::int32_t;
using std::uint32_t;

constexpr uint32_t magic = 0x67676d6c;  // "ggml"
constexpr int n_layers_max = 64, n_ctx_max = 4096, width_max = 1 << 14, n_heads_max = 256;
constexpr int n_bins = 201, n_words_over_max = 64, word_bytes_max = 1024;
constexpr int name_bytes_max = 256, n_tensors_max = 1 << 16;
constexpr int qnt_version_factor = 1000, qnt_version_read = 2, ftype_max = 30;
constexpr int n_outer_tensors = 11, n_encoder_layer_tensors = 15, n_decoder_layer_tensors = 24;
constexpr i64 n_elements_max = i64{1} << 40;

class BinReader {
  public:
    BinReader(std::span<const std::byte> file, WhisperBin& out) : in_(file), out_(out) {}

    // An Error without the file's name.
    Status read() {
        in_.take(sizeof magic, "the magic number");
        if (is_vad()) {
            return Error{Code::unsupported,
                         "whisper.cpp's model of voice activity, not one of speech to text"};
        }
        TRY(read_sizes());
        read_filters();
        read_words();
        while (in_.ok() && in_.left() > 0) read_tensor();
        check_count();
        return in_.ok() ? Status() : Error{Code::bad_model, in_.fault()};
    }

  private:
    int next(std::string_view what) { return in_.get<int32_t>(what); }

    bool is_vad() {
        ByteReader peek = in_;
        constexpr std::string_view name = "silero";
        return peek.get<uint32_t>("") >= name.size() && peek.text(name.size(), "") == name;
    }

    Status read_sizes() {
        constexpr std::string_view what = "the sizes";
        out_.n_vocab = next(what);
        for (WhisperBin::Side* side : {&out_.audio, &out_.text}) {
            *side = {.n_ctx = next(what), .width = next(what), .n_heads = next(what)};
            side->n_layers = next(what);
        }
        out_.n_mels = next(what);
        out_.ftype = next(what);
        if (!in_.ok()) return Error{Code::bad_model, in_.fault()};
        Problems problems;
        check_sizes(problems);
        return problems.done(Code::unsupported,
                             "not a GGUF file, and no Whisper model in whisper.cpp's format");
    }

    void check_sizes(Problems& problems) const {
        auto one_of = [&](const char* name, int value, std::initializer_list<int> allowed) {
            if (std::ranges::find(allowed, value) != allowed.end()) return;
            problems.add(
                fmt::format("{} is {}, not one of {}", name, value, fmt::join(allowed, ", ")));
        };
        auto within = [&](std::string name, int value, int max) {
            if (value >= 1 && value <= max) return;
            problems.add(fmt::format("{} is {}, not within 1 to {}", name, value, max));
        };
        one_of("n_vocab", out_.n_vocab, {51864, 51865, 51866});
        if (!problems.empty()) return;  // something else: its other numbers say nothing
        one_of("n_mels", out_.n_mels, {80, 128});
        for (auto [name, side] : {std::pair{"n_audio_", out_.audio}, {"n_text_", out_.text}}) {
            within(name + std::string("ctx"), side.n_ctx, n_ctx_max);
            within(name + std::string("state"), side.width, width_max);
            within(name + std::string("head"), side.n_heads, n_heads_max);
            within(name + std::string("layer"), side.n_layers, n_layers_max);
            if (side.n_heads >= 1 && side.n_heads <= n_heads_max &&
                side.width % side.n_heads != 0) {
                problems.add(fmt::format("{}state is {}, not a multiple of {} heads", name,
                                         side.width, side.n_heads));
            }
        }
        if (out_.audio.width != out_.text.width) {
            problems.add(fmt::format("n_audio_state is {} and n_text_state is {}", out_.audio.width,
                                     out_.text.width));
        }
        if (out_.ftype < 0 || out_.ftype % qnt_version_factor > ftype_max) {
            problems.add(fmt::format("ftype is {}", out_.ftype));
        }
    }

    void read_filters() {
        int n_rows = next("the filters' size"), n_columns = next("the filters' size");
        if (in_.ok() && (n_rows != out_.n_mels || n_columns != n_bins)) {
            in_.fail(fmt::format("the mel filters are {} x {}, not {} x {}", n_rows, n_columns,
                                 out_.n_mels, n_bins));
        }
        if (!in_.ok()) return;
        out_.filters.resize(static_cast<size_t>(n_rows * n_columns));
        auto bytes = in_.take(out_.filters.size() * sizeof(float), "the mel filters");
        if (in_.ok()) std::memcpy(out_.filters.data(), bytes.data(), bytes.size());
    }

    void read_words() {
        int n = next("the vocabulary's size");
        if (in_.ok() && (n < 1 || n > out_.n_vocab + n_words_over_max)) {
            in_.fail(fmt::format("the vocabulary has {} words, and the model {} tokens", n,
                                 out_.n_vocab));
        }
        for (int i = 0; i < n && in_.ok(); i++) {
            auto n_bytes = in_.get<uint32_t>("a word's length");
            if (n_bytes > word_bytes_max) {
                in_.fail(
                    fmt::format("word {} has {} bytes, more than {}", i, n_bytes, word_bytes_max));
            }
            out_.words.push_back(in_.text(n_bytes, "a word"));
        }
    }

    void read_tensor() {
        int n_dims = next("a tensor"), n_name = next("a tensor"), type = next("a tensor");
        if (in_.ok() && (n_dims < 1 || n_dims > 4)) {
            return in_.fail(damaged(fmt::format("a tensor has {} dimensions, not 1 to 4", n_dims)));
        }
        if (in_.ok() && (n_name < 1 || n_name > name_bytes_max)) {
            return in_.fail(damaged(
                fmt::format("a tensor's name has {} bytes, not 1 to {}", n_name, name_bytes_max)));
        }
        std::vector<i64> shape;  // fastest first
        for (int i = 0; i < n_dims && in_.ok(); i++) shape.push_back(next("a tensor's dimension"));
        std::string name(in_.text(static_cast<uint32_t>(n_name), "a tensor's name"));
        if (!in_.ok()) return;
        bool column = shape.size() == 2 && shape[0] == 1 && name.ends_with(".bias");
        if (column) shape.erase(shape.begin());
        SourceTensor tensor;
        tensor.type = static_cast<Dtype>(type);
        tensor.shape.assign(shape.rbegin(), shape.rend());
        take_data(tensor, printable(name, 80));
        if (!in_.ok()) return;
        bool added = out_.checkpoint.tensors.emplace(name, std::move(tensor)).second;
        if (!added) {
            in_.fail(fmt::format("the tensor {} stands in the file twice", printable(name, 80)));
        } else if (out_.checkpoint.tensors.size() > n_tensors_max) {
            in_.fail(fmt::format("the file holds more than {} tensors", n_tensors_max));
        }
    }

    void take_data(SourceTensor& tensor, const std::string& shown) {
        i64 n = 0, per_row = tensor.shape.back();
        bool sized = shape_elements(tensor.shape, n) && n <= n_elements_max;
        if (!sized || std::ranges::any_of(tensor.shape, [](i64 dim) { return dim < 1; })) {
            return in_.fail(damaged(
                fmt::format("the tensor {} has the shape {}", shown, shape_text(tensor.shape))));
        }
        if (dtype_name(tensor.type).empty() || is_integer(tensor.type)) {
            return in_.fail(fmt::format("the tensor {} is of type {}, which is not supported",
                                        shown, static_cast<int>(tensor.type)));
        }
        int version = out_.ftype / qnt_version_factor;
        if (is_quantized(tensor.type) && version != qnt_version_read) {
            return in_.fail(
                fmt::format("the tensor {} is quantized in an old layout (version {}), "
                            "and only version {} can be read; get the model anew",
                            shown, version, qnt_version_read));
        }
        if (row_bytes(tensor.type, per_row) == 0) {
            return in_.fail(
                fmt::format("the tensor {} has rows of {} elements, and {} needs a "
                            "multiple of {}",
                            shown, per_row, dtype_name(tensor.type), block_elements(tensor.type)));
        }
        tensor.data = in_.take(row_bytes(tensor.type, n), "the tensor " + shown);
    }

    // A file cut between two tensors.
    void check_count() {
        int n = static_cast<int>(out_.checkpoint.tensors.size());
        int n_wanted = n_outer_tensors + n_encoder_layer_tensors * out_.audio.n_layers +
                       n_decoder_layer_tensors * out_.text.n_layers;
        if (!in_.ok() || n >= n_wanted) return;
        in_.fail(fmt::format("the file is cut: it holds {} tensors, and its {} + {} layers have {}",
                             n, out_.audio.n_layers, out_.text.n_layers, n_wanted));
    }

    static std::string damaged(const std::string& fault) {
        return "the file is cut or damaged: " + fault;
    }

    ByteReader in_;
    WhisperBin& out_;
};

}  // namespace

bool is_whisper_bin(std::span<const std::byte> file) {
    return ByteReader(file).get<uint32_t>("the magic number") == magic;
}

Expected<WhisperBin> read_whisper_bin(const std::string& path, MappedFile file) {
    WhisperBin out;
    out.checkpoint.format = Checkpoint::Format::whisper_cpp;
    out.checkpoint.directory = path;
    out.checkpoint.architecture = "whisper";
    Status status = BinReader(file.bytes(), out).read();
    if (!status) {
        return Error{status.error().code,
                     fmt::format("{}: {}", printable(path, 1000), status.error().what)};
    }
    out.checkpoint.files.push_back(std::move(file));
    return out;
}

}  // namespace transcribe
