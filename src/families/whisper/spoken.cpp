#include "families/whisper/spoken.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace transcribe::whisper {

namespace {

// Words that end right where the window begins were not heard there: from there on the same would
// come again and again, so the window advances as it does without words.
constexpr i64 advance_frames_min = 10;

double seconds_of(i64 frames) {
    return static_cast<double>(frames) / 100;
}

}  // namespace

SpokenWindow::SpokenWindow(const Facts& facts, const Options& options, const WindowText& text,
                           const Place& place)
    : facts_(facts),
      options_(options),
      text_(text),
      place_(place),
      cut_(cut_window(text.tokens, facts.config.ids.timestamp_begin, place.window)),
      seek_frames_(place.window.seek_frames + cut_.advance_frames) {
    for (const Slice& slice : cut_.slices) {
        TimedSegment& timed = timed_.emplace_back();
        for (int id : tokens_of(slice)) {
            if (id < facts.config.ids.eot) timed.tokens.push_back(id);
        }
        timed.t0_s = seconds_of(slice.t0_frames);
        timed.t1_s = seconds_of(slice.t1_frames);
    }
}

std::span<const int> SpokenWindow::tokens_of(const Slice& slice) const {
    return std::span(text_.tokens).subspan(slice.first, slice.last - slice.first);
}

std::vector<int> SpokenWindow::text_tokens() const {
    std::vector<int> all;
    for (const TimedSegment& timed : timed_) {
        all.insert(all.end(), timed.tokens.begin(), timed.tokens.end());
    }
    return all;
}

void SpokenWindow::add_words(const TextAlignment& alignment, std::string_view language) {
    const Window& window = place_.window;
    whisper::add_words(timed_, alignment,
                       {.tokenizer = facts_.tokenizer,
                        .breaks = word_breaks_of(language),
                        .prepend = options_.prepend_punctuations,
                        .append = options_.append_punctuations,
                        .window_t0_s = seconds_of(window.seek_frames),
                        .last_speech_s = place_.last_speech_s});
    AfterWords after =
        after_words(timed_, {.window = window,
                             .ends_in_single_timestamp = cut_.ends_in_single_timestamp,
                             .seek_after_frames = seek_frames_,
                             .window_max_frames = facts_.config.n_frames(),
                             .recording_frames = place_.end_frames,
                             .last_speech_s = place_.last_speech_s,
                             .silence_s = options_.hallucination_silence_threshold_s});
    timed_.resize(after.n_segments);
    bool moves = after.seek_frames - window.seek_frames >= advance_frames_min;
    if (moves) seek_frames_ = after.seek_frames;
}

double SpokenWindow::last_speech_s() const {
    return end_of_speech(timed_).value_or(place_.last_speech_s);
}

bool SpokenWindow::overruns() const {
    return std::any_of(cut_.slices.begin(), cut_.slices.end(), [this](const Slice& slice) {
        return is_behind_end(std::llround(seconds_of(slice.t0_frames) * 1000));
    });
}

std::vector<Segment> SpokenWindow::segments() const {
    std::vector<Segment> out;
    std::string rest;  // a character may be split between segments: its first bytes wait
    for (size_t i = 0; i < timed_.size(); i++) {
        std::string own = text_of(facts_, tokens_of(cut_.slices[i]));
        Segment segment = segment_of(i);
        if (is_behind_end(segment.t0_ms)) continue;  // was not heard
        if (!has_speech(segment.t0_ms, segment.t1_ms, own)) continue;
        std::string bytes = rest + own;
        size_t n_whole = utf8_complete_prefix(bytes);
        rest = bytes.substr(n_whole);
        segment.text = utf8_repair(std::string_view(bytes).substr(0, n_whole));
        segment.t0_ms = std::min(segment.t0_ms, place_.end_ms);
        segment.t1_ms = std::min(segment.t1_ms, place_.end_ms);
        out.push_back(std::move(segment));
    }
    return out;
}

// All but its text, and its own ends may lie behind the end of the recording.
Segment SpokenWindow::segment_of(size_t i) const {
    auto ms = [](double s) { return std::llround(s * 1000); };
    const Slice& slice = cut_.slices[i];
    auto tokens = tokens_of(slice);
    Segment out;
    out.seek = place_.window.seek_frames;
    out.t0_ms = ms(timed_[i].t0_s);
    out.t1_ms = ms(timed_[i].t1_s);
    out.tokens.assign(tokens.begin(), tokens.end());
    for (size_t t = slice.first; t < slice.last; t++) {
        out.token_probabilities.push_back(std::exp(text_.logprobs[t]));
    }
    for (const TimedWord& word : timed_[i].words) {
        i64 t0_ms = std::min<i64>(ms(word.t0_s), place_.end_ms);
        i64 t1_ms = std::min<i64>(ms(word.t1_s), place_.end_ms);
        out.words.push_back({word.text, t0_ms, t1_ms, word.probability});
    }
    out.temperature = text_.temperature;
    out.avg_logprob = text_.avg_logprob;
    out.compression_ratio = text_.compression_ratio;
    out.no_speech_prob = text_.no_speech_prob;
    return out;
}

}  // namespace transcribe::whisper
