// Weights: modules bind to names in one GGUF file, then the file is mapped once.
//
// Binding comes first (names, shapes, roles; faults gathered), memory after: on the CPU a tensor
// that is stored in a type its role allows stays where the file is mapped; the others are converted
// into one allocation, derived tensors are filled last. In dry mode the same bind() runs without a
// file and yields the schema, from which converter tests and random twins are made.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/rounding.h"
#include "tensor/device.h"
#include "tensor/gguf.h"
#include "tensor/graph.h"

namespace transcribe {

// What a tensor is for decides the types it may be stored in:
// matrix: any float or quantized type, used as it is. kernel: F32, F16 (convolutions).
// vector, table: F32; F16 and BF16 are converted.
enum class Role { matrix, kernel, vector, table };

struct TensorSpec {
    std::string name;
    Shape shape;
    Role role;
};

// One stored tensor that a derived one is made of.
struct Source {
    const char* leaf;
    Role role;
    Shape shape;
};
// From F32 copies of the sources to the F32 values of the derived tensor.
using Fill = std::function<void(std::span<const std::vector<float>>, std::span<float>)>;

// Brings matrices into another form than they are stored in: as many floats, of their own, as
// n_floats() says; pack() makes share `i` of `n`.
struct Packer {
    size_t (*n_floats)(const ggml_tensor& w) = nullptr;
    void (*pack)(const ggml_tensor& w, float* to, size_t i, size_t n) = nullptr;
    int n_threads = 1;
    explicit operator bool() const { return pack != nullptr; }
};

class Weights;

// A place among the names of the file: enc / "blocks", enc.blocks[3].
class Scope {
  public:
    explicit Scope(Weights& weights, std::string prefix = "")
        : weights_(&weights), prefix_(std::move(prefix)) {}
    Scope operator/(std::string_view child) const;
    Scope operator[](int index) const;
    Weight need(const char* leaf, Role, const Shape&) const;
    Weight maybe(const char* leaf, Role, const Shape&) const;
    // A tensor of the first source's type, computed at load; its sources take no memory of their
    // own.
    Weight derive(std::initializer_list<Source> from, const Shape&, Fill) const;

  private:
    Weights* weights_;
    std::string prefix_;
};

class Weights {
  public:
    // `file` empty: dry mode.
    explicit Weights(std::shared_ptr<const Gguf> file);
    ~Weights();
    Scope root() { return Scope(*this); }
    // All missing, misshapen and mistyped tensors in one error; then memory. Where there is a
    // packer each matrix has what it made of it in ggml_tensor::extra. Tensors of the file that
    // nothing used are listed in unused().
    Status finish(Device device, const Packer& packer = {});
    const std::vector<TensorSpec>& schema() const { return schema_; }
    std::vector<std::string> unused() const;
    i64 n_params() const;
    // Values of a stored tensor on the host (front end tables); empty with a Problem when missing.
    std::vector<float> host_copy(std::string_view name, const Shape&);

  private:
    friend class Scope;
    struct Entry;
    const GgufTensor* look_up(const std::string& name, Role, const Shape&, bool required);
    Weight add_stored(const GgufTensor* stored, Role, const Shape&);  // null: missing
    Weight add(Entry entry, Dtype dtype, const Shape&);
    Status map_in_place(Device device);
    Status allocate_rest(Device device);
    Status pack(const Packer& packer);

    std::shared_ptr<const Gguf> file_;
    Problems problems_;
    std::vector<TensorSpec> schema_;
    struct Memory;
    std::unique_ptr<Memory> memory_;
};

// What a family's load() works with: the file, the place, and one list of faults.
class Loader {
  public:
    Loader(std::shared_ptr<const Gguf> gguf, Device place) : file(std::move(gguf)), device(place) {}
    KvReader keys(std::string prefix = "") { return KvReader(*file, problems, std::move(prefix)); }

    std::shared_ptr<const Gguf> file;
    Device device;
    Rounding rounding = Rounding::none;
    Packer packer;
    Problems problems;
};

}  // namespace transcribe
