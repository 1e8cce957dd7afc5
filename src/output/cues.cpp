#include "output/cues.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"

namespace transcribe {

namespace {

struct Clock {
    i64 h, m, s, ms;
};

Clock clock_of(i64 ms) {
    ms = std::max<i64>(ms, 0);
    return {ms / 3600000, ms / 60000 % 60, ms / 1000 % 60, ms % 1000};
}

// Rounded down, so that an end in whole milliseconds is never after the audio. The small addend
// keeps 7.12 s at 7120 ms where the product is a hair less.
i64 end_ms(double duration_s) {
    if (!(duration_s > 0)) return std::numeric_limits<i64>::max();
    return static_cast<i64>(std::floor(duration_s * 1000 + 1e-6));
}

}  // namespace

std::string one_line(std::string_view text) {
    std::string line = utf8_repair(text);
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    return line;
}

Segment within(Segment segment, double duration_s) {
    const i64 end = end_ms(duration_s);
    segment.t0_ms = std::clamp<i64>(segment.t0_ms, 0, end);
    segment.t1_ms = std::clamp<i64>(segment.t1_ms, segment.t0_ms, end);
    for (Word& word : segment.words) {
        word.t0_ms = std::clamp<i64>(word.t0_ms, 0, end);
        word.t1_ms = std::clamp<i64>(word.t1_ms, word.t0_ms, end);
    }
    return segment;
}

std::optional<Cue> make_cue(const Segment& segment, double duration_s) {
    std::string text = one_line(trim(segment.text));
    if (text.empty()) return std::nullopt;
    Segment at = within(segment, duration_s);
    return Cue{at.t0_ms, at.t1_ms, std::move(text)};
}

std::vector<Cue> make_cues(const Transcript& transcript) {
    std::vector<Cue> cues;
    for (const Segment& segment : transcript.segments) {
        if (auto cue = make_cue(segment, transcript.duration_s)) cues.push_back(*std::move(cue));
    }
    return cues;
}

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
    std::string out;
    for (size_t at; (at = text.find(from)) != std::string_view::npos;) {
        out.append(text.substr(0, at)).append(to);
        text.remove_prefix(at + from.size());
    }
    return out.append(text);
}

std::string srt_time(i64 ms) {
    Clock t = clock_of(ms);
    return fmt::format("{:02}:{:02}:{:02},{:03}", t.h, t.m, t.s, t.ms);
}

std::string vtt_time(i64 ms) {
    Clock t = clock_of(ms);
    std::string hours = t.h ? fmt::format("{:02}:", t.h) : "";
    return fmt::format("{}{:02}:{:02}.{:03}", hours, t.m, t.s, t.ms);
}

std::string lrc_time(i64 ms) {
    Clock t = clock_of(ms);
    return fmt::format("{:02}:{:02}.{:02}", t.h * 60 + t.m, t.s, t.ms / 10);
}

std::string cue_line(const Cue& cue) {
    return fmt::format("[{} --> {}]  {}", vtt_time(cue.t0_ms), vtt_time(cue.t1_ms), cue.text);
}

}  // namespace transcribe
