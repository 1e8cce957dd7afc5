#include "engine/timeline.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace transcribe {

namespace {

constexpr i64 margin_ms = 300;    // of a pause, kept on each side of it
constexpr i64 cut_min_ms = 1000;  // a cut saves at least this much

}  // namespace

std::vector<TimeSpan> kept_parts(std::span<const TimeSpan> regions, i64 duration_ms) {
    std::vector<TimeSpan> kept;
    i64 end_ms = 0;  // what is behind it has no part yet
    for (const TimeSpan& region : regions) {
        i64 from_ms = region.t0_ms - margin_ms;
        bool cut = from_ms - end_ms >= cut_min_ms;
        if (cut || kept.empty()) kept.push_back({cut ? from_ms : 0, 0});
        end_ms = std::min(duration_ms, region.t1_ms + margin_ms);
        kept.back().t1_ms = end_ms;
    }
    if (!kept.empty() && duration_ms - end_ms < cut_min_ms) kept.back().t1_ms = duration_ms;
    return kept;
}

std::vector<TimeSpan> common_parts(std::span<const TimeSpan> a, std::span<const TimeSpan> b) {
    std::vector<TimeSpan> common;
    for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        TimeSpan both{std::max(a[i].t0_ms, b[j].t0_ms), std::min(a[i].t1_ms, b[j].t1_ms)};
        if (both.t0_ms < both.t1_ms) common.push_back(both);
        a[i].t1_ms < b[j].t1_ms ? i++ : j++;
    }
    return common;
}

Timeline::Timeline(std::vector<TimeSpan> kept) : kept_(std::move(kept)) {
    i64 at_ms = 0;
    for (size_t i = 0; i < kept_.size(); i++) {
        const TimeSpan& part = kept_[i];
        CHECK(part.t0_ms < part.t1_ms && (i == 0 || kept_[i - 1].t1_ms <= part.t0_ms));
        heard_.push_back({at_ms, at_ms + part.t1_ms - part.t0_ms});
        at_ms = heard_.back().t1_ms;
    }
}

i64 Timeline::start_ms(i64 t_ms) const {
    if (heard_.empty()) return 0;
    t_ms = std::clamp<i64>(t_ms, 0, length_ms());
    auto part = std::find_if(heard_.begin(), heard_.end() - 1,
                             [&](const TimeSpan& heard) { return t_ms < heard.t1_ms; });
    return kept_[static_cast<size_t>(part - heard_.begin())].t0_ms + t_ms - part->t0_ms;
}

i64 Timeline::end_ms(i64 t_ms) const {
    if (heard_.empty()) return 0;
    t_ms = std::clamp<i64>(t_ms, 0, length_ms());
    auto part = std::find_if(heard_.begin(), heard_.end() - 1,
                             [&](const TimeSpan& heard) { return t_ms <= heard.t1_ms; });
    return kept_[static_cast<size_t>(part - heard_.begin())].t0_ms + t_ms - part->t0_ms;
}

i64 Timeline::heard_ms(i64 t_ms) const {
    for (size_t i = 0; i < kept_.size(); i++) {
        if (t_ms < kept_[i].t0_ms) return heard_[i].t0_ms;
        if (t_ms <= kept_[i].t1_ms) return heard_[i].t0_ms + t_ms - kept_[i].t0_ms;
    }
    return length_ms();
}

size_t Timeline::part_of(i64 t0_ms, i64 t1_ms) const {
    size_t best = 0;
    i64 most_ms = std::numeric_limits<i64>::min();  // less than 0: how far away the part is
    for (size_t i = 0; i < heard_.size(); i++) {
        i64 ms = std::min(t1_ms, heard_[i].t1_ms) - std::max(t0_ms, heard_[i].t0_ms);
        if (ms <= most_ms) continue;
        best = i;
        most_ms = ms;
    }
    return best;
}

void Timeline::move_into(size_t part, i64& t0_ms, i64& t1_ms) const {
    const TimeSpan& heard = heard_[part];
    for (i64* t : {&t0_ms, &t1_ms}) {
        *t = kept_[part].t0_ms + std::clamp(*t, heard.t0_ms, heard.t1_ms) - heard.t0_ms;
    }
}

Segment Timeline::restored(const Segment& segment, size_t part, std::span<const Word> words) const {
    Segment out = segment;
    move_into(part, out.t0_ms, out.t1_ms);
    out.words.assign(words.begin(), words.end());
    for (Word& word : out.words) move_into(part, word.t0_ms, word.t1_ms);
    out.seek = start_ms(segment.seek * 10) / 10;
    return out;
}

std::vector<Segment> Timeline::restore(const Segment& segment) const {
    const std::vector<Word>& words = segment.words;
    if (words.empty()) return {restored(segment, part_of(segment.t0_ms, segment.t1_ms), {})};
    std::vector<Segment> out;
    for (size_t from = 0, to = 0; from < words.size(); from = to) {
        size_t part = part_of(words[from].t0_ms, words[from].t1_ms);
        for (to = from; to < words.size(); to++) {
            if (part_of(words[to].t0_ms, words[to].t1_ms) != part) break;
        }
        out.push_back(restored(segment, part, std::span(words).subspan(from, to - from)));
    }
    if (out.size() == 1) return out;
    for (size_t i = 0; i < out.size(); i++) {
        if (i > 0) out[i].t0_ms = out[i].words.front().t0_ms;
        if (i > 0) out[i].tokens.clear();
        if (i + 1 < out.size()) out[i].t1_ms = out[i].words.back().t1_ms;
        out[i].text.clear();
        for (const Word& word : out[i].words) out[i].text += word.text;
    }
    return out;
}

}  // namespace transcribe
