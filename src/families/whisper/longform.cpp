#include "families/whisper/longform.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"

namespace transcribe::whisper {

namespace {

constexpr i64 frame_ms = 10;
constexpr i64 n_frames_window = 3000;

std::vector<int> encoded(const Facts& facts, std::string_view text) {
    text = trim(text);
    return text.empty() ? std::vector<int>() : facts.tokenizer.encode(fmt::format(" {}", text));
}

}  // namespace

LongForm::LongForm(const Facts& facts, const Options& options, const Recording& recording,
                   int index, int n_windows)
    : facts_(facts),
      options_(options),
      recording_(recording),
      mel_(facts.mel, *recording.audio, (n_windows + 1) * n_frames_window),
      index_(index) {
    const auto& languages = facts.config.languages;
    auto at = std::find(languages.begin(), languages.end(), options.language);
    if (at != languages.end()) language_ = static_cast<int>(at - languages.begin());
    if (!facts.config.multilingual()) language_ = 0;
    transcript_.language = options.language;
    transcript_.language_probability = options.language.empty() ? 0 : 1;  // known, not detected
    encode_texts();
}

// Each text of the caller has room beside the others and the sampled text.
void LongForm::encode_texts() {
    auto n_max = static_cast<size_t>(facts_.config.n_context_max());
    auto cut = [&](std::vector<int>& tokens, const char* what, size_t n_left) {
        if (tokens.size() <= n_left) return;
        transcript_.note +=
            fmt::format("{}the {} has {} tokens; the last {} are used",
                        transcript_.note.empty() ? "" : "; ", what, tokens.size(), n_left);
        tokens.erase(tokens.begin(), tokens.end() - static_cast<i64>(n_left));
    };
    hotwords_ = encoded(facts_, options_.hotwords);
    cut(hotwords_, "list of hotwords", n_max / 2);
    initial_prompt_ = encoded(facts_, options_.initial_prompt);
    cut(initial_prompt_, "initial prompt", n_max - hotwords_.size());
    prefix_ = encoded(facts_, options_.prefix);
    cut(prefix_, "prefix", n_max / 2);
}

std::deque<Passage::Clip> LongForm::clips(const std::vector<TimeSpan>& spans) const {
    std::deque<Passage::Clip> out;
    for (const TimeSpan& span : spans) {
        i64 end = std::min(span.t1_ms / frame_ms, mel_.n_frames());
        if (span.t0_ms / frame_ms < end) out.push_back({span.t0_ms / frame_ms, end});
    }
    return out;
}

void LongForm::open() {
    if (Status status = mel_.scan(); !status) return fail(status.error());
    transcript_.duration_s = static_cast<double>(mel_.n_samples()) / sample_rate;
    for (const TimeSpan& piece : recording_.pieces) {
        passages_.emplace_back(*this, clips({piece}));
    }
    if (!recording_.pieces.empty()) return;
    passages_.emplace_back(*this, options_.clips.empty()
                                      ? std::deque<Passage::Clip>{{0, mel_.n_frames()}}
                                      : clips(options_.clips));
}

void LongForm::fail(const Error& error) {
    transcript_.outcome = Outcome::invalid;
    transcript_.error = error;
    ended_ = true;
}

void LongForm::interrupt(const Error& error) {
    transcript_.outcome = Outcome::truncated;
    transcript_.error = error;
    ended_ = true;
}

Passage* LongForm::idle_passage() {
    if (ended_) return nullptr;
    for (Passage& passage : passages_) {
        if (!passage.done() && !passage.in_flight) return &passage;
    }
    return nullptr;
}

bool LongForm::done() const {
    return ended_ || n_settled_ == passages_.size();
}

void LongForm::settle() {
    for (; n_settled_ < passages_.size(); n_settled_++) {
        Passage& passage = passages_[n_settled_];
        for (Segment& segment : passage.segments_) {
            segment.id = static_cast<int>(transcript_.segments.size());
            if (options_.on_segment) options_.on_segment(index_, segment);
            transcript_.segments.push_back(std::move(segment));
        }
        passage.segments_.clear();
        if (!passage.done()) break;
    }
    report_progress();
}

void LongForm::report_progress() const {
    if (!options_.on_progress || transcript_.duration_s <= 0) return;
    i64 n_done = 0;
    for (const Passage& passage : passages_) n_done += passage.n_passed_;
    if (done()) n_done = mel_.n_frames();
    double done_s = static_cast<double>(std::min(n_done, mel_.n_frames()) * frame_ms) / 1000;
    options_.on_progress(index_, done_s, transcript_.duration_s);
}

Transcript LongForm::take(const Timings& timings) {
    for (Passage& passage : passages_) passage.clips_.clear();
    settle();
    for (const Segment& s : transcript_.segments) transcript_.text += s.text;
    transcript_.text = std::string(trim(transcript_.text));
    transcript_.timings = timings;
    return std::move(transcript_);
}

}  // namespace transcribe::whisper
