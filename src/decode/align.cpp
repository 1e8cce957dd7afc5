#include "decode/align.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/check.h"

namespace transcribe {

namespace {

constexpr size_t n_beside = 3;  // neighbours on each side in the median

void softmax(std::span<float> row) {
    float max = *std::max_element(row.begin(), row.end());
    double sum = 0;
    for (float& x : row) {
        x = std::exp(x - max);
        sum += x;
    }
    for (float& x : row) x = static_cast<float>(x / sum);
}

// Each frame to mean 0 and standard deviation 1 over the tokens of one head, rows [n_frames]. A
// frame on which all tokens agree says nothing (the reference divides by zero).
void normalize_over_tokens(std::span<float> head, size_t n_frames) {
    std::vector<double> mean(n_frames), square(n_frames);
    size_t n_tokens = head.size() / n_frames;
    for (size_t i = 0; i < head.size(); i++) mean[i % n_frames] += head[i];
    for (double& m : mean) m /= static_cast<double>(n_tokens);
    for (size_t i = 0; i < head.size(); i++) {
        double off = head[i] - mean[i % n_frames];
        square[i % n_frames] += off * off;
    }
    for (size_t i = 0; i < head.size(); i++) {
        double deviation = std::sqrt(square[i % n_frames] / static_cast<double>(n_tokens));
        double off = head[i] - mean[i % n_frames];
        head[i] = deviation > 0 ? static_cast<float>(off / deviation) : 0;
    }
}

// Of p[0] ... p[6], by exchanges that the compiler turns into vector instructions.
float median(const float* p) {
    float v[7] = {p[0], p[1], p[2], p[3], p[4], p[5], p[6]};
    constexpr std::pair<int, int> exchanges[] = {{0, 5}, {0, 3}, {1, 6}, {2, 4}, {0, 1},
                                                 {3, 5}, {2, 6}, {2, 3}, {3, 6}, {4, 5},
                                                 {1, 4}, {1, 3}, {3, 4}};
    for (auto [i, j] : exchanges) {
        float low = std::min(v[i], v[j]), high = std::max(v[i], v[j]);
        v[i] = low, v[j] = high;
    }
    return v[3];
}

enum Move : std::uint8_t { both, next_token, next_frame };

// The cheapest way to each cell of a grid with a border of one row and one column before it.
class Grid {
  public:
    Grid(std::span<const float> cost, size_t n_tokens)
        : n_tokens_(n_tokens),
          n_frames_(cost.size() / n_tokens),
          moves_((n_tokens_ + 1) * (n_frames_ + 1), next_frame) {
        constexpr float infinity = std::numeric_limits<float>::infinity();
        std::vector<float> above(n_frames_ + 1, infinity), row(n_frames_ + 1);
        above[0] = 0;
        for (size_t i = 1; i <= n_tokens_; i++) {
            row[0] = infinity;
            for (size_t j = 1; j <= n_frames_; j++) {
                auto [before, move] = best(above[j - 1], above[j], row[j - 1]);
                row[j] = cost[(i - 1) * n_frames_ + j - 1] + before;
                moves_[at(i, j)] = move;
            }
            moves_[at(i, 0)] = next_token;
            std::swap(above, row);
        }
    }

    std::vector<int> first_frames() const {
        std::vector<int> first(n_tokens_);
        for (size_t i = n_tokens_, j = n_frames_; i > 0 && j > 0;) {
            first[i - 1] = static_cast<int>(j - 1);
            Move move = moves_[at(i, j)];
            if (move != next_frame) i--;
            if (move != next_token) j--;
        }
        return first;
    }

  private:
    size_t at(size_t i, size_t j) const { return i * (n_frames_ + 1) + j; }
    // Of equal costs the last wins.
    static std::pair<float, Move> best(float diagonal, float above, float left) {
        if (diagonal < above && diagonal < left) return {diagonal, both};
        if (above < diagonal && above < left) return {above, next_token};
        return {left, next_frame};
    }

    size_t n_tokens_, n_frames_;
    std::vector<Move> moves_;
};

}  // namespace

void median_of_7(std::span<const float> row, std::span<float> out) {
    CHECK(out.size() == row.size());
    size_t n = row.size();
    if (n <= n_beside) {
        std::copy(row.begin(), row.end(), out.begin());
        return;
    }
    std::vector<float> wide(n + 2 * n_beside);
    std::copy(row.begin(), row.end(), wide.begin() + n_beside);
    for (size_t i = 1; i <= n_beside; i++) {
        wide[n_beside - i] = row[i];
        wide[n_beside + n - 1 + i] = row[n - 1 - i];
    }
    for (size_t i = 0; i < n; i++) out[i] = median(&wide[i]);
}

std::vector<float> attention_map(std::vector<float> scores, const ScoreShape& shape) {
    auto n_frames = static_cast<size_t>(shape.n_frames);
    size_t n_map = n_frames * static_cast<size_t>(shape.n_tokens);
    CHECK(n_map > 0 && shape.n_heads > 0);
    CHECK(scores.size() == n_map * static_cast<size_t>(shape.n_heads));
    std::vector<float> map(n_map), smooth(n_frames);
    for (size_t head = 0; head < scores.size(); head += n_map) {
        std::span<float> own(&scores[head], n_map);
        for (size_t i = 0; i < n_map; i += n_frames) softmax(own.subspan(i, n_frames));
        normalize_over_tokens(own, n_frames);
        for (size_t i = 0; i < n_map; i += n_frames) {
            median_of_7(own.subspan(i, n_frames), smooth);
            for (size_t j = 0; j < n_frames; j++) map[i + j] += smooth[j];
        }
    }
    for (float& x : map) x /= static_cast<float>(shape.n_heads);
    return map;
}

std::vector<int> first_frames(std::span<const float> cost, int n_tokens) {
    CHECK(n_tokens > 0 && !cost.empty() && cost.size() % static_cast<size_t>(n_tokens) == 0);
    return Grid(cost, static_cast<size_t>(n_tokens)).first_frames();
}

std::vector<int> align_tokens(std::vector<float> scores, const ScoreShape& shape, TokenRange of) {
    std::vector<float> map = attention_map(std::move(scores), shape);
    auto n_frames = static_cast<size_t>(shape.n_frames);
    CHECK(of.first >= 0 && of.n > 0 && of.first + of.n <= shape.n_tokens);
    std::span<float> cost = std::span(map).subspan(static_cast<size_t>(of.first) * n_frames,
                                                   static_cast<size_t>(of.n) * n_frames);
    for (float& x : cost) x = -x;
    return first_frames(cost, of.n);
}

}  // namespace transcribe
