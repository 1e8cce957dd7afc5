// A graph is built by calling named functions on Tensors. Building cannot fail: what depends on a
// file or a caller has been checked before, the rest is CHECKed.
//
// Shapes are ggml's: fastest axis first, written [d, T, B].
#pragma once

#include <array>
#include <deque>
#include <initializer_list>
#include <memory>
#include <string>

#include "base/audio_source.h"
#include "base/rounding.h"
#include "tensor/dtype.h"

struct ggml_context;
struct ggml_cgraph;
struct ggml_tensor;

namespace transcribe {

struct Shape {
    std::array<i64, 4> ne{1, 1, 1, 1};
    int n = 0;
    Shape(std::initializer_list<i64> dims);
    i64 elements() const { return ne[0] * ne[1] * ne[2] * ne[3]; }
    bool operator==(const Shape& other) const { return ne == other.ne; }
    std::string text() const;  // "[384, 1500]"
};

// A tensor of a model: outlives graphs, shared by sessions, never written.
struct Weight {
    ggml_tensor* t = nullptr;
    explicit operator bool() const { return t != nullptr; }
    i64 dim(int i) const;
    Dtype dtype() const;
};

// Memory of a session that outlives graphs (caches, encoder output).
struct HeldView {
    ggml_tensor* t = nullptr;
};

class Graph;
class Team;  // tensor/team.h

// A node of one graph. Two pointers: pass by value.
struct Tensor {
    ggml_tensor* t = nullptr;
    Graph* g = nullptr;
    explicit operator bool() const { return t != nullptr; }
    i64 dim(int i) const;
    Tensor is(const Shape&) const;  // asserts the shape
};
Tensor operator+(Tensor, Tensor);
Tensor operator+(Tensor, Weight);
Tensor operator*(Tensor, Weight);
Tensor operator*(Tensor, Tensor);
Tensor operator*(float, Tensor);

class Graph {
  public:
    // `team`: where the threads stand that nodes of our own use when they are computed.
    Graph(ggml_context* ctx, int n_nodes_max, bool on_cpu, Team* const* team);
    // Filled by the host before each run.
    Tensor input(const char* name, Dtype, const Shape&);
    // Names a node for observers; costs nothing when nobody listens. At most 63 characters.
    Tensor tap(Tensor x, const char* name, int index = -1);
    // Its memory stays readable after the run.
    Tensor keep(Tensor output);
    // Computes x into a held tensor of the same number of elements (converting the type).
    void store(Tensor x, HeldView held);
    Tensor use(HeldView held) { return {held.t, this}; }
    Tensor use(Weight weight) { return {weight.t, this}; }

    // What a node of our own finds when it is computed; lives as long as the graph.
    struct Carried {
        Team* const* team;
        int number;  // the node's own
        Rounding rounding;
    };
    Carried* carry(int number) { return &carried_.emplace_back(Carried{team_, number, rounding}); }

    bool flash = true;  // read by nn::sdpa only
    // What nodes of our own may round operands to; of those that are built from now on. Weights
    // that were rounded at load are in 8 bits all the same.
    Rounding rounding = Rounding::none;
    bool on_cpu;  // all of the graph runs on the CPU: host functions may stand in it
    ggml_context* ctx;
    ggml_cgraph* nodes;

  private:
    Team* const* team_;
    std::deque<Carried> carried_;
};

}  // namespace transcribe
