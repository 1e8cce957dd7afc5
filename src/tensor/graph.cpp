#include "tensor/graph.h"

#include <fmt/format.h>
#include <ggml.h>

#include "base/check.h"

namespace transcribe {

Shape::Shape(std::initializer_list<i64> dims) {
    CHECK(dims.size() >= 1 && dims.size() <= 4);
    for (i64 dim : dims) ne[static_cast<size_t>(n++)] = dim;
}

std::string Shape::text() const {
    std::string out = fmt::format("[{}", ne[0]);
    for (int i = 1; i < n; i++) out += fmt::format(", {}", ne[static_cast<size_t>(i)]);
    return out + "]";
}

i64 Weight::dim(int i) const {
    return t->ne[i];
}
Dtype Weight::dtype() const {
    return static_cast<Dtype>(t->type);
}

i64 Tensor::dim(int i) const {
    return t->ne[i];
}

Tensor Tensor::is(const Shape& shape) const {
    for (size_t i = 0; i < 4; i++) CHECK(t->ne[i] == shape.ne[i]);
    return *this;
}

Tensor operator+(Tensor a, Tensor b) {
    return {ggml_add(a.g->ctx, a.t, b.t), a.g};
}
Tensor operator+(Tensor a, Weight b) {
    return a + a.g->use(b);
}
Tensor operator*(Tensor a, Tensor b) {
    return {ggml_mul(a.g->ctx, a.t, b.t), a.g};
}
Tensor operator*(Tensor a, Weight b) {
    return a * a.g->use(b);
}
Tensor operator*(float a, Tensor b) {
    return {ggml_scale(b.g->ctx, b.t, a), b.g};
}

Graph::Graph(ggml_context* context, int n_nodes_max, bool cpu, Team* const* team)
    : on_cpu(cpu),
      ctx(context),
      nodes(ggml_new_graph_custom(context, static_cast<size_t>(n_nodes_max), false)),
      team_(team) {}

Tensor Graph::input(const char* name, Dtype dtype, const Shape& shape) {
    ggml_tensor* t = ggml_new_tensor(ctx, static_cast<ggml_type>(dtype), shape.n, shape.ne.data());
    ggml_set_name(t, name);
    ggml_set_input(t);
    return {t, this};
}

Tensor Graph::tap(Tensor x, const char* name, int index) {
    index < 0 ? ggml_set_name(x.t, name) : ggml_format_name(x.t, name, index);
    return x;
}

Tensor Graph::keep(Tensor output) {
    ggml_set_output(output.t);
    ggml_build_forward_expand(nodes, output.t);
    return output;
}

void Graph::store(Tensor x, HeldView held) {
    ggml_build_forward_expand(nodes, ggml_cpy(ctx, x.t, held.t));
}

}  // namespace transcribe
