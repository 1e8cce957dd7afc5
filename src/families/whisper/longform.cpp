#include "families/whisper/longform.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "decode/quality.h"
#include "families/whisper/segments.h"

namespace transcribe::whisper {

namespace {

constexpr i64 frame_ms = 10;
// What is left after a window is decoded only if it is longer than this: a few frames hold no word,
// and the reference invents one for them.
constexpr i64 tail_frames_min = 10;
// A text decoded hotter than this is no context for the next window.
constexpr float context_temperature_max = 0.5f;

}  // namespace

LongForm::LongForm(const Facts& facts, const Options& options, AudioSource& source, int index)
    : facts_(facts), options_(options), mel_(facts.mel, source), index_(index) {
    const auto& languages = facts.config.languages;
    auto at = std::find(languages.begin(), languages.end(), options.language);
    needs_language_ = facts.config.multilingual() && options.language.empty();
    if (at != languages.end()) language_ = static_cast<int>(at - languages.begin());
    transcript_.language = options.language;
    transcript_.language_probability = options.language.empty() ? 0 : 1;  // known, not detected
    std::string_view prompt = trim(options.initial_prompt);
    if (!prompt.empty()) context_ = facts.tokenizer.encode(fmt::format(" {}", prompt));
    auto n_max = static_cast<size_t>(facts.config.n_context_max());
    if (context_.size() > n_max) {
        transcript_.note = fmt::format("the initial prompt has {} tokens; the last {} are used",
                                       context_.size(), n_max);
    }
}

void LongForm::open() {
    if (Status status = mel_.scan(); !status) return fail(status.error());
    transcript_.duration_s = static_cast<double>(mel_.n_samples()) / sample_rate;
}

void LongForm::fail(const Error& error) {
    transcript_.outcome = Outcome::invalid;
    transcript_.error = error;
    done_ = true;
}

void LongForm::interrupt(const Error& error) {
    if (done_) return;
    transcript_.outcome = Outcome::truncated;
    transcript_.error = error;
    done_ = true;
}

i64 LongForm::window_frames() const {
    return std::min<i64>(facts_.config.n_frames(), mel_.n_frames() - seek_);
}

bool LongForm::next_window(std::span<float> mel) {
    while (!done_) {
        i64 n = window_frames();
        if (n <= 0 || (seek_ > 0 && n < tail_frames_min)) break;
        Expected<bool> silent = mel_.silent(seek_, static_cast<int>(n));
        if (!silent) return fail(silent.error()), false;
        if (!*silent) {
            Status status = mel_.window(seek_, facts_.config.n_frames(), mel);
            if (!status) return fail(status.error()), false;
            return true;
        }
        seek_ += n;
        report_progress();
    }
    if (!done_) seek_ = mel_.n_frames();
    done_ = true;
    report_progress();
    return false;
}

void LongForm::set_language(const std::vector<float>& probabilities) {
    auto best = std::max_element(probabilities.begin(), probabilities.end());
    language_ = static_cast<int>(best - probabilities.begin());
    transcript_.language = facts_.config.languages[static_cast<size_t>(language_)];
    transcript_.language_probability = *best;
    needs_language_ = false;
}

Prompt LongForm::prompt() const {
    const SpecialTokens& ids = facts_.config.ids;
    Prompt prompt;
    if (context_from_ < context_.size()) {
        auto n_max = static_cast<size_t>(facts_.config.n_context_max());
        size_t n = std::min(n_max, context_.size() - context_from_);
        prompt.tokens.push_back(ids.sot_prev);
        prompt.tokens.insert(prompt.tokens.end(), context_.end() - static_cast<i64>(n),
                             context_.end());
    }
    prompt.sot_at = static_cast<int>(prompt.tokens.size());
    prompt.tokens.push_back(ids.sot);
    if (facts_.config.multilingual()) {
        prompt.tokens.push_back(ids.languages[static_cast<size_t>(language_)]);
        prompt.tokens.push_back(options_.task == Task::translate ? ids.translate : ids.transcribe);
    }
    if (!options_.timestamps) prompt.tokens.push_back(ids.no_timestamps);
    return prompt;
}

std::string LongForm::text_of(std::span<const int> tokens) const {
    std::string bytes;
    for (int id : tokens) {
        if (id < facts_.config.ids.timestamp_begin) bytes += facts_.tokenizer.bytes(id);
    }
    return bytes;
}

float LongForm::compression_ratio_of(const WindowText& text) const {
    return compression_ratio(utf8_repair(trim(text_of(text.tokens))));
}

bool LongForm::needs_retry(const WindowText& text) const {
    bool improbable = text.avg_logprob < options_.logprob_threshold;
    bool silence = text.no_speech_prob > options_.no_speech_threshold && improbable;
    bool loop = compression_ratio_of(text) > options_.compression_ratio_threshold;
    return (loop || improbable) && !silence;
}

void LongForm::accept(const WindowText& text) {
    bool silence = text.no_speech_prob > options_.no_speech_threshold &&
                   text.avg_logprob <= options_.logprob_threshold;
    if (silence) {
        seek_ += window_frames();
    } else {
        add_segments(text);
    }
    report_progress();
}

void LongForm::add_segments(const WindowText& text) {
    i64 window_seek = seek_, end_ms = static_cast<i64>(std::floor(transcript_.duration_s * 1000));
    Cut cut = cut_window(text.tokens, facts_.config.ids.timestamp_begin, {seek_, window_frames()});
    float ratio = compression_ratio_of(text);
    std::string rest;
    for (const Slice& slice : cut.slices) {
        auto tokens = std::span(text.tokens).subspan(slice.first, slice.last - slice.first);
        std::string own = text_of(tokens);
        if (!has_speech(slice, own)) continue;
        // A character may be split between segments: its first bytes wait for the rest.
        std::string bytes = rest + own;
        size_t n_whole = utf8_complete_prefix(bytes);
        rest = bytes.substr(n_whole);
        Segment segment;
        segment.id = static_cast<int>(transcript_.segments.size());
        segment.seek = window_seek;
        segment.t0_ms = std::min(slice.t0_frames * frame_ms, end_ms);
        segment.t1_ms = std::min(slice.t1_frames * frame_ms, end_ms);
        segment.text = utf8_repair(std::string_view(bytes).substr(0, n_whole));
        segment.tokens.assign(tokens.begin(), tokens.end());
        segment.temperature = text.temperature;
        segment.avg_logprob = text.avg_logprob;
        segment.compression_ratio = ratio;
        segment.no_speech_prob = text.no_speech_prob;
        context_.insert(context_.end(), tokens.begin(), tokens.end());
        if (options_.on_segment) options_.on_segment(index_, segment);
        transcript_.segments.push_back(std::move(segment));
    }
    bool keep = options_.condition_on_previous_text && text.temperature <= context_temperature_max;
    if (!keep) context_from_ = context_.size();
    seek_ += cut.advance_frames;
}

void LongForm::report_progress() const {
    if (!options_.on_progress) return;
    double done_s = static_cast<double>(std::min(seek_, mel_.n_frames()) * frame_ms) / 1000;
    options_.on_progress(index_, done_s, transcript_.duration_s);
}

Transcript LongForm::take(const Timings& timings) {
    for (const Segment& s : transcript_.segments) transcript_.text += s.text;
    transcript_.text = std::string(trim(transcript_.text));
    transcript_.timings = timings;
    return std::move(transcript_);
}

}  // namespace transcribe::whisper
