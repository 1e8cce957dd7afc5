#include "nn/rope.h"

#include <ggml.h>

#include "nn/host_lm_ops.h"

namespace transcribe {

Rope::Rope(const RopeSpec& spec, Tensor pos) : spec_(spec), pos_(pos) {
    if (pos.g->on_cpu) turns_ = host_turns(pos, spec.d_head, spec.theta);
}

Tensor Rope::operator()(Tensor x) const {
    if (turns_) return host_turn(x, turns_);
    Shape whole{x.dim(0), x.dim(1)};
    Tensor heads = reshape(x, {spec_.d_head, x.dim(0) / spec_.d_head, x.dim(1)});
    Tensor turned{ggml_rope_ext(x.g->ctx, heads.t, pos_.t, nullptr, static_cast<int>(spec_.d_head),
                                GGML_ROPE_TYPE_NEOX, 0, spec_.theta, 1, 0, 1, 0, 0),
                  x.g};
    return reshape(turned, whole);
}

}  // namespace transcribe
