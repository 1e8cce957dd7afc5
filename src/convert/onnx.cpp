// The format: Protocol Buffers. A message is a row of fields, each a key (number * 8 + kind) and a
// value: a varint, 4 or 8 bytes, or a length and that many bytes, which may be a message again.
// Field numbers are those of onnx.proto: ModelProto.graph 7; GraphProto.node 1, .initializer 5;
// NodeProto.input 1, .op_type 4; TensorProto.dims 1, .data_type 2, .name 8, .raw_data 9.
#include "convert/onnx.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "tensor/byte_reader.h"

namespace transcribe {

namespace {

using Bytes = std::span<const std::byte>;

constexpr size_t n_dims_max = 8, n_tensors_max = 100000;
constexpr std::uint64_t type_f32 = 1;

struct Field {
    std::uint64_t number = 0;
    std::uint64_t value = 0;  // of a varint
    Bytes bytes;              // of a length and bytes
    std::string text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

std::uint64_t read_varint(ByteReader& in) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        auto byte = in.get<std::uint8_t>("a number");
        value |= std::uint64_t{byte & 0x7Fu} << shift;
        if (byte < 0x80) return value;
    }
    in.fail("a number has more than 64 bits");
    return 0;
}

// False at the end of the message and where it is damaged.
bool next_field(ByteReader& in, Field& field) {
    if (in.left() == 0) return false;
    std::uint64_t key = read_varint(in);
    field = {};
    field.number = key >> 3;
    switch (key & 7) {
        case 0: field.value = read_varint(in); break;
        case 1: in.take(8, "a field"); break;
        case 2: field.bytes = in.take(read_varint(in), "a field"); break;
        case 5: in.take(4, "a field"); break;
        default: in.fail(fmt::format("a field has the unknown kind {}", key & 7));
    }
    return in.ok();
}

class OnnxReader {
  public:
    explicit OnnxReader(Checkpoint& into) : into_(into) {}

    // The fault in words; empty when all is well.
    std::string read(Bytes file) {
        ByteReader in(file);
        for (Field field; fault_.empty() && next_field(in, field);) {
            if (field.number == 7) read_graph(field.bytes);
        }
        if (fault_.empty() && !in.ok()) fault_ = in.fault();
        if (fault_.empty()) name_lstm();
        return fault_;
    }

  private:
    void read_graph(Bytes message) {
        ByteReader in(message);
        for (Field field; fault_.empty() && next_field(in, field);) {
            if (field.number == 1) read_node(field.bytes);
            if (field.number == 5) read_tensor(field.bytes);
        }
        if (fault_.empty() && !in.ok()) fault_ = in.fault();
    }

    void read_node(Bytes message) {
        ByteReader in(message);
        std::vector<std::string> inputs;
        std::string op;
        for (Field field; next_field(in, field);) {
            if (field.number == 1) inputs.push_back(field.text());
            if (field.number == 4) op = field.text();
        }
        if (!in.ok()) fault_ = in.fault();
        if (op != "LSTM") return;
        if (!lstm_.empty() || inputs.size() < 4) fault_ = "it has no LSTM of the expected kind";
        lstm_ = std::move(inputs);
    }

    void read_tensor(Bytes message) {
        ByteReader in(message);
        SourceTensor tensor{.type = Dtype::f32, .shape = {}, .data = {}, .scale = {}};
        std::string name;
        std::uint64_t type = 0;
        for (Field field; next_field(in, field);) {
            if (field.number == 1 && !field.bytes.empty()) read_dims(field.bytes, tensor.shape);
            if (field.number == 1 && field.bytes.empty()) add_dim(field.value, tensor.shape);
            if (field.number == 2) type = field.value;
            if (field.number == 8) name = field.text();
            if (field.number == 9) tensor.data = field.bytes;
        }
        std::string shown = printable(name, 80);
        if (!in.ok()) {
            fault_ = in.fault();
        } else if (type != type_f32) {
            fault_ = fmt::format("the tensor {} has data type {}, expected 1 (F32)", shown, type);
        } else if (tensor.shape.size() > n_dims_max ||
                   !shape_fills(tensor.shape, Dtype::f32, tensor.data.size())) {
            fault_ = fmt::format("the tensor {} has {} bytes for the shape {}", shown,
                                 tensor.data.size(), shape_text(tensor.shape));
        } else if (into_.tensors.size() >= n_tensors_max ||
                   !into_.tensors.emplace(name, std::move(tensor)).second) {
            fault_ = fmt::format("the tensor {} is there twice, or one too many", shown);
        }
    }

    // Several sizes in one field, as newer writers pack them.
    void read_dims(Bytes packed, std::vector<i64>& shape) {
        ByteReader in(packed);
        while (in.ok() && in.left() > 0) add_dim(read_varint(in), shape);
    }

    // One too many is enough to refuse the tensor.
    static void add_dim(std::uint64_t n, std::vector<i64>& shape) {
        if (shape.size() <= n_dims_max) shape.push_back(static_cast<i64>(n));
    }

    void name_lstm() {
        constexpr std::array names{"lstm.W", "lstm.R", "lstm.B"};
        for (size_t i = 0; i < names.size() && !lstm_.empty(); i++) {
            auto tensor = into_.tensors.extract(lstm_[i + 1]);
            if (tensor.empty()) continue;  // computed in the graph: the tensor will be missed
            tensor.key() = names[i];
            into_.tensors.insert(std::move(tensor));
        }
    }

    Checkpoint& into_;
    std::vector<std::string> lstm_;  // the inputs of its node
    std::string fault_;
};

}  // namespace

Status read_onnx(const std::string& path, Checkpoint& into) {
    TRY_SET(auto file, MappedFile::open(path));
    std::string fault = OnnxReader(into).read(file.bytes());
    into.files.push_back(std::move(file));
    if (fault.empty() && into.tensors.empty()) fault = "not an ONNX file, or one without weights";
    if (fault.empty()) return {};
    return Error{Code::bad_model, fmt::format("{}: {}", printable(path, 1000), fault)};
}

}  // namespace transcribe
