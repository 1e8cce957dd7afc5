// Everything an autoregressive graph is fed. One forward serves a prompt, a step, several tokens at
// once and a batch: they differ by these values only.
#pragma once

#include <span>
#include <vector>

#include "tensor/compute.h"

namespace transcribe {

struct StepShape {
    int n_tokens;  // T, per row
    int n_rows;    // B
    int n_slots;   // S, cache slots attended
    int n_picks;   // P, tokens whose logits are wanted
};

struct StepInputs {
    StepShape shape{};
    Tensor ids, pos;  // i32 [T * B]
    Tensor slots;     // i64 [T, B]
    Tensor mask;      // f16 [S, T, 1, B]: 0 or -inf
    Tensor picks;     // i32 [P]: indices among the T * B tokens, each row's last one first
    static StepInputs declare(Graph&, const StepShape&);
};

// The host side: which tokens every row brings, and where they go. A row that brings fewer than T
// is padded; what padding writes is masked and overwritten by the row's next tokens. A row that has
// not begun or has ended is computed with the others and holds nothing.
class StepFeed {
  public:
    explicit StepFeed(int n_rows)
        : len_(static_cast<size_t>(n_rows), 0), live_(static_cast<size_t>(n_rows), false) {}
    // From now on this row is one of those that count, and `n_held` tokens are in its cache.
    void begin(int row, int n_held);
    void end(int row) { live_[static_cast<size_t>(row)] = false; }
    // Fills the vectors for `tokens` (of the first rows, one list each, at most T long) behind what
    // rows hold. The logits of each row's last token are picked; pick() adds more.
    void set(const StepShape&, std::span<const std::vector<int>> tokens, int pad_id);
    void pick(int row, int token);
    // Counts what set() fed as held.
    void advance();
    int longest() const;  // tokens held by the longest live row
    int held(int row) const { return len_[static_cast<size_t>(row)]; }
    // Runs the graph, with what else it takes in.
    Status run(Compute&, const StepInputs&, std::initializer_list<Feed> more = {}) const;

  private:
    int n_tokens_ = 0;
    std::vector<int> len_, added_;
    std::vector<bool> live_;
    std::vector<std::int32_t> ids_, pos_, picks_;
    std::vector<i64> slots_;
    std::vector<std::uint16_t> mask_;
};

}  // namespace transcribe
