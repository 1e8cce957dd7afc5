#include "convert/byte_bpe.h"

#include <unordered_map>

namespace transcribe {

namespace {

std::vector<std::string> characters(std::string_view utf8) {
    std::vector<std::string> out;
    for (char c : utf8) {
        bool continues = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
        if (!continues || out.empty()) out.emplace_back();
        out.back() += c;
    }
    return out;
}

}  // namespace

std::vector<std::string> merge_word(std::string_view word, const MergeRank& rank) {
    std::vector<std::string> parts = characters(word);
    while (parts.size() > 1) {
        std::optional<int> best;
        size_t best_at = 0;
        for (size_t i = 0; i + 1 < parts.size(); i++) {
            auto r = rank(parts[i], parts[i + 1]);
            if (r && (!best || *r < *best)) best = r, best_at = i;
        }
        if (!best) break;
        parts[best_at] += parts[best_at + 1];
        parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best_at) + 1);
    }
    return parts;
}

std::vector<std::string> derive_merges(const std::vector<std::string>& tokens) {
    constexpr size_t token_bytes_max = 512;  // merging is quadratic in the length
    std::unordered_map<std::string, int> ids;
    std::vector<std::string> merges;
    for (const std::string& token : tokens) {
        if (token.size() > token_bytes_max) continue;
        auto parts = merge_word(token, [&](const std::string& a, const std::string& b) {
            auto found = ids.find(a + b);
            return found == ids.end() ? std::nullopt : std::optional(found->second);
        });
        if (parts.size() == 2) merges.push_back(parts[0] + " " + parts[1]);
        ids.emplace(token, static_cast<int>(ids.size()));
    }
    return merges;
}

}  // namespace transcribe
