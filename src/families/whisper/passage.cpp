#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "decode/quality.h"
#include "families/whisper/longform.h"

namespace transcribe::whisper {

namespace {

constexpr i64 frame_ms = 10;
// What is left after a window is decoded only if it is longer than this: a few frames hold no word,
// and the reference invents one for them.
constexpr i64 tail_frames_min = 10;
// Of a piece more is left, since it was cut behind the end of a word.
constexpr i64 piece_tail_frames_min = 50;
// A text decoded hotter than this is no context for the next window.
constexpr float context_temperature_max = 0.5f;
// A text that has so many tokens in a row from its context is an echo.
constexpr size_t echo_tokens_min = 10;

}  // namespace

Passage::Passage(LongForm& whole, std::deque<Clip> clips)
    : whole_(whole), clips_(std::move(clips)), language_(whole.language_) {
    if (!clips_.empty()) seek_ = clips_[0].begin;
    if (!whole.options_.carry_initial_prompt) context_ = whole.initial_prompt_;
}

i64 Passage::window_frames() const {
    return std::min<i64>(whole_.facts_.config.n_frames(), clips_[0].end - seek_);
}

bool Passage::is_last_window() const {
    return !whole_.recording_.pieces.empty() && clips_[0].end - seek_ == window_frames();
}

double Passage::window_s() const {
    return static_cast<double>(window_frames() * frame_ms) / 1000;
}

void Passage::advance(i64 n_frames) {
    n_passed_ += std::min(n_frames, window_frames());
    seek_ += n_frames;
    i64 left = clips_[0].end - seek_;
    i64 least = whole_.recording_.pieces.empty() ? tail_frames_min : piece_tail_frames_min;
    if (left > 0 && left >= least) return;
    n_passed_ += std::max<i64>(left, 0);
    clips_.pop_front();
    if (!clips_.empty()) seek_ = clips_[0].begin;
}

Expected<bool> Passage::next_window(std::span<float> mel) {
    while (!done()) {
        i64 n = window_frames();
        TRY_SET(bool silent, whole_.mel_.silent(seek_, static_cast<int>(n)));
        if (!silent) {
            auto n_values = static_cast<size_t>(n * whole_.facts_.config.net.n_mels);
            TRY(whole_.mel_.window(seek_, static_cast<int>(n), mel.first(n_values)));
            std::fill(mel.begin() + static_cast<i64>(n_values), mel.end(), 0.0f);
            return true;
        }
        advance(n);
    }
    return false;
}

Expected<bool> Passage::language_window(std::span<float> mel) {
    int n = whole_.facts_.config.n_frames();
    if (whole_.mel_.n_frames() - seek_ >= n) return false;
    TRY(whole_.mel_.window(seek_, n, mel, WhisperMel::Behind::silence));
    return true;
}

bool Passage::needs_language() const {
    const Options& options = whole_.options_;
    bool each = options.detect_language_per_window && options.language.empty();
    return whole_.facts_.config.multilingual() && (each || whole_.language_ < 0);
}

void Passage::set_language(const std::vector<float>& probabilities) {
    auto best = std::max_element(probabilities.begin(), probabilities.end());
    language_ = static_cast<int>(best - probabilities.begin());
    if (whole_.language_ >= 0) return;
    whole_.language_ = language_;
    whole_.transcript_.language = whole_.facts_.config.languages[static_cast<size_t>(language_)];
    whole_.transcript_.language_probability = *best;
}

Prompt Passage::prompt() const {
    const Config& config = whole_.facts_.config;
    const SpecialTokens& ids = config.ids;
    Prompt prompt;
    std::vector<int> before = whole_.hotwords_;
    if (whole_.options_.carry_initial_prompt) {
        before.insert(before.end(), whole_.initial_prompt_.begin(), whole_.initial_prompt_.end());
    }
    size_t n_max = static_cast<size_t>(config.n_context_max()) - before.size();
    auto recent = context().last(std::min(n_max, context().size()));
    before.insert(before.end(), recent.begin(), recent.end());
    if (!before.empty()) prompt.tokens.push_back(ids.sot_prev);
    prompt.tokens.insert(prompt.tokens.end(), before.begin(), before.end());
    prompt.sot_at = static_cast<int>(prompt.tokens.size());
    std::vector<int> start = start_of_transcript();
    prompt.tokens.insert(prompt.tokens.end(), start.begin(), start.end());
    if (!whole_.options_.timestamps) prompt.tokens.push_back(ids.no_timestamps);
    std::vector<int> begin = forced();
    prompt.tokens.insert(prompt.tokens.end(), begin.begin(), begin.end());
    return prompt;
}

bool Passage::echoes(const WindowText& text) const {
    const int eot = whole_.facts_.config.ids.eot;
    auto words = [eot](std::span<const int> tokens) {
        std::vector<int> out;
        std::copy_if(tokens.begin(), tokens.end(), std::back_inserter(out),
                     [eot](int id) { return id < eot; });
        return out;
    };
    return longest_common_run(words(text.tokens), words(context())) >= echo_tokens_min;
}

int Passage::language() const {
    return language_ >= 0 ? language_ : whole_.language_;
}

std::string_view Passage::text_language() const {
    const auto& languages = whole_.facts_.config.languages;
    bool english = whole_.options_.task == Task::translate || languages.empty();
    return english ? "en" : std::string_view(languages[static_cast<size_t>(language())]);
}

std::vector<int> Passage::start_of_transcript() const {
    const Config& config = whole_.facts_.config;
    if (!config.multilingual()) return {config.ids.sot};
    bool translate = whole_.options_.task == Task::translate;
    return {config.ids.sot, config.ids.languages[static_cast<size_t>(language())],
            translate ? config.ids.translate : config.ids.transcribe};
}

std::vector<int> Passage::forced() const {
    bool begins = first_ && this == &whole_.passages_.front();
    if (!begins || whole_.prefix_.empty()) return {};
    std::vector<int> tokens;
    if (whole_.options_.timestamps) tokens.push_back(whole_.facts_.config.ids.timestamp_begin);
    tokens.insert(tokens.end(), whole_.prefix_.begin(), whole_.prefix_.end());
    return tokens;
}

SpokenWindow Passage::spoken(const WindowText& text) const {
    auto duration_ms = static_cast<i64>(std::floor(whole_.transcript_.duration_s * 1000));
    i64 end_frames = clips_[0].end;
    bool is_last = is_last_window() && !text.full && !text.looping;
    return SpokenWindow(whole_.facts_, whole_.options_, text,
                        {.window = {seek_, window_frames(), is_last},
                         .end_frames = end_frames,
                         .end_ms = std::min(duration_ms, end_frames * frame_ms + frame_ms),
                         .last_speech_s = last_speech_s_});
}

std::optional<TextToAlign> Passage::text_to_align(const Ladder& ladder) const {
    if (!whole_.options_.word_timestamps || ladder.silent()) return std::nullopt;
    TextToAlign what{start_of_transcript(), spoken(ladder.best()).text_tokens(), window_frames()};
    what.before.push_back(whole_.facts_.config.ids.no_timestamps);
    if (what.text.empty()) return std::nullopt;
    return what;
}

void Passage::accept(const Ladder& ladder, const TextAlignment& alignment) {
    in_flight = false;
    first_ = false;
    if (ladder.silent()) return advance(window_frames());
    const WindowText& text = ladder.best();
    SpokenWindow said = spoken(text);
    if (whole_.options_.word_timestamps) said.add_words(alignment, text_language());
    for (Segment& segment : said.segments()) {
        context_.insert(context_.end(), segment.tokens.begin(), segment.tokens.end());
        segments_.push_back(std::move(segment));
    }
    bool keep = whole_.options_.condition_on_previous_text.value_or(true) &&
                text.temperature <= context_temperature_max;
    if (!keep) forget_context();
    last_speech_s_ = said.last_speech_s();
    advance(said.next_seek_frames() - seek_);
    if (whole_.options_.one_window) clips_.clear();
}

}  // namespace transcribe::whisper
