// The two hash tables of a byte-level BPE: piece -> id and (left id, right id) -> merge. Both are
// flat, filled once and then only read: 50,000 pieces and as many merges are ready in a few
// milliseconds, which is part of the time a user waits for a model to load.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace transcribe {

// Finds the pieces of a vocabulary. Of equal pieces the first is found. Keeps a view of `pieces`.
class PieceIndex {
  public:
    explicit PieceIndex(std::span<const std::string> pieces);
    int find(std::string_view piece) const { return find(piece, {}); }
    // The piece that `left` and `right` make together; -1 when there is none. A good guess saves
    // time.
    int find(std::string_view left, std::string_view right, int guess = -1) const;

  private:
    struct Slot {
        uint32_t hash = 0;
        int id = -1;  // -1: free
    };
    // The slot of the piece, or the free one where it would go.
    size_t place(std::string_view left, std::string_view right, uint32_t hash) const;
    std::span<const std::string> pieces_;
    std::vector<Slot> slots_;  // a power of two, at most half of it taken
};

struct Merge {
    int rank = -1;  // lower goes first; -1: these two do not merge
    int id = -1;    // what they become
};

class MergeTable {
  public:
    explicit MergeTable(size_t n_merges);
    bool empty() const { return entries_.empty(); }
    // Of equal pairs the first counts. At most `n_merges` may be added.
    void add(int left, int right, Merge merge);
    Merge find(int left, int right) const;

  private:
    struct Entry {
        uint64_t pair;
        Merge merge;
    };
    size_t place(uint64_t pair) const;  // the slot of `pair`, or the free one where it would go
    std::vector<Entry> entries_;
    std::vector<int>
        slots_;  // where in entries_; -1: free. A power of two, at most half of it taken
};

}  // namespace transcribe
