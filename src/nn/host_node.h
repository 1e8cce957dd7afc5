// What the nodes that our own kernels compute have in common (nn/host_*.cpp alone includes it).
#pragma once

#include <algorithm>
#include <vector>

#include <ggml.h>

#include "tensor/graph.h"
#include "tensor/team.h"

namespace transcribe {

inline size_t count(i64 n) {
    return static_cast<size_t>(n);
}

inline const float* floats(const ggml_tensor* t, size_t offset_bytes = 0) {
    return reinterpret_cast<const float*>(static_cast<const char*>(t->data) + offset_bytes);
}

inline const Graph::Carried& carried(void* user) {
    return *static_cast<const Graph::Carried*>(user);
}

// Computes work(i, n) for all i < n on the team. More shares than threads: who is held up by
// another program leaves his to the others. `cost`: multiplications, about.
template <class Work>
void share_out(const Graph::Carried& node, size_t cost, const Work& work) {
    constexpr size_t cost_of_a_share = 1 << 15, n_shares_a_thread = 4;
    Team& team = **node.team;
    size_t n_max = team.n_threads() == 1 ? 1 : n_shares_a_thread * count(team.n_threads());
    size_t n = std::clamp<size_t>(cost / cost_of_a_share, 1, n_max);
    team.run(n, [&](size_t i) { work(i, n); });
}

// The same over rows: work(r) for all r < n_rows, each of which costs that many multiplications.
template <class Work>
void share_out_rows(const Graph::Carried& node, size_t n_rows, size_t cost, const Work& work) {
    share_out(node, n_rows * cost, [&](size_t i, size_t n) {
        for (size_t r = n_rows * i / n; r < n_rows * (i + 1) / n; r++) work(r);
    });
}

// An eps of 1e-5 travels with its node as the number 10000.
constexpr float eps_unit = 1e-9f;

inline float eps_of(void* user) {
    return static_cast<float>(carried(user).number) * eps_unit;
}

inline Shape shape_of(Tensor x) {
    return {x.dim(0), x.dim(1), x.dim(2), x.dim(3)};
}

// A node of this shape that `run` computes from its sources; it finds `number` in carried().
inline Tensor host_node(Graph& g, const Shape& s, std::vector<ggml_tensor*> sources,
                        ggml_custom_op_t run, int number = 0) {
    return {ggml_custom_4d(g.ctx, GGML_TYPE_F32, s.ne[0], s.ne[1], s.ne[2], s.ne[3], sources.data(),
                           static_cast<int>(sources.size()), run, 1, g.carry(number)),
            &g};
}

}  // namespace transcribe
