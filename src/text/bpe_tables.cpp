#include "text/bpe_tables.h"

#include <bit>

namespace transcribe {

namespace {

// FNV-1a, so that two halves hash as the whole does without being joined.
constexpr uint64_t hash_start = 0xcbf29ce484222325u;

uint64_t hash_more(uint64_t hash, std::string_view bytes) {
    for (char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return hash;
}

uint32_t hash_of(std::string_view left, std::string_view right) {
    uint64_t h = hash_more(hash_more(hash_start, left), right);
    return static_cast<uint32_t>(h ^ h >> 32);
}

uint64_t pair_of(int left, int right) {
    return static_cast<uint64_t>(left) << 32 | static_cast<uint32_t>(right);
}

bool is_joined(std::string_view whole, std::string_view left, std::string_view right) {
    return whole.size() == left.size() + right.size() && whole.starts_with(left) &&
           whole.ends_with(right);
}

}  // namespace

PieceIndex::PieceIndex(std::span<const std::string> pieces)
    : pieces_(pieces), slots_(std::bit_ceil(2 * pieces.size() + 1)) {
    for (size_t i = 0; i < pieces.size(); i++) {
        uint32_t hash = hash_of(pieces[i], {});
        Slot& slot = slots_[place(pieces[i], {}, hash)];
        if (slot.id < 0) slot = {hash, static_cast<int>(i)};
    }
}

size_t PieceIndex::place(std::string_view left, std::string_view right, uint32_t hash) const {
    size_t mask = slots_.size() - 1;
    for (size_t at = hash & mask;; at = (at + 1) & mask) {
        const Slot& slot = slots_[at];
        if (slot.id < 0) return at;
        if (slot.hash != hash) continue;
        if (is_joined(pieces_[static_cast<size_t>(slot.id)], left, right)) return at;
    }
}

int PieceIndex::find(std::string_view left, std::string_view right, int guess) const {
    bool in_range = guess >= 0 && static_cast<size_t>(guess) < pieces_.size();
    if (in_range && is_joined(pieces_[static_cast<size_t>(guess)], left, right)) return guess;
    return slots_[place(left, right, hash_of(left, right))].id;
}

MergeTable::MergeTable(size_t n_merges) : slots_(std::bit_ceil(2 * n_merges + 1), -1) {
    entries_.reserve(n_merges);
}

size_t MergeTable::place(uint64_t pair) const {
    uint64_t hash = pair * 0x9E3779B97F4A7C15u;
    size_t mask = slots_.size() - 1;
    size_t at = (hash ^ hash >> 32) & mask;
    while (slots_[at] >= 0 && entries_[static_cast<size_t>(slots_[at])].pair != pair) {
        at = (at + 1) & mask;
    }
    return at;
}

void MergeTable::add(int left, int right, Merge merge) {
    uint64_t pair = pair_of(left, right);
    int& slot = slots_[place(pair)];
    if (slot >= 0) return;
    slot = static_cast<int>(entries_.size());
    entries_.push_back({pair, merge});
}

Merge MergeTable::find(int left, int right) const {
    int at = slots_[place(pair_of(left, right))];
    return at < 0 ? Merge{} : entries_[static_cast<size_t>(at)].merge;
}

}  // namespace transcribe
