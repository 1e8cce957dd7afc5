// Rotary positions (Su et al. 2021) in the order of GPT-NeoX: value i of a head and value i + dh /
// 2 are a point that turns by pos * theta^(-2 i / dh).
#pragma once

#include "nn/ops.h"

namespace transcribe {

struct RopeSpec {
    i64 d_head = 0;  // even
    float theta = 1e4f;
};

// The turns of the tokens of one graph, for all its layers.
class Rope {
  public:
    // pos i32 [n]
    Rope(const RopeSpec& spec, Tensor pos);
    // x [dh * H, n] -> [dh * H, n]
    Tensor operator()(Tensor x) const;

  private:
    RopeSpec spec_;
    Tensor pos_;
    Tensor turns_;  // on the CPU: [dh, n]
};

}  // namespace transcribe
