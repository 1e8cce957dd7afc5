#include "families/whisper/rules.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>

#include "base/check.h"
#include "decode/pick.h"

namespace transcribe {

namespace {

constexpr i64 frames_per_timestamp = 2;  // steps of 20 ms
// What begins this close to the end need not be said: it may be nothing, and of nothing the model
// makes "Thank you".
constexpr i64 frames_said_min = 150;

// Masks the tokens first ... last - 1.
void mask(std::span<float> logits, int first, int last) {
    first = std::max(first, 0);
    last = std::min(last, static_cast<int>(logits.size()));
    for (int i = first; i < last; i++) {
        logits[static_cast<size_t>(i)] = -std::numeric_limits<float>::infinity();
    }
}

void mask(std::span<float> logits, std::span<const int> ids) {
    for (int id : ids) mask(logits, id, id + 1);
}

std::vector<int> sorted_tokens(std::vector<int> ids, int n_vocab) {
    std::erase_if(ids, [&](int id) { return id < 0 || id >= n_vocab; });
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
}

}  // namespace

bool are_in_order(const SpecialTokens& special) {
    return special.eot >= 0 && special.eot < special.timestamp_begin &&
           special.timestamp_begin < special.n_vocab;
}

WhisperRules::WhisperRules(const SpecialTokens& special, const RuleOptions& options)
    : eot_(special.eot),
      timestamp_begin_(special.timestamp_begin),
      n_vocab_(special.n_vocab),
      max_initial_timestamp_(options.max_initial_timestamp),
      timestamps_(options.timestamps) {
    CHECK(are_in_order(special));
    std::vector<int> suppress = options.suppress;
    suppress.insert(suppress.end(), {special.transcribe, special.translate, special.sot,
                                     special.sot_prev, special.sot_lm, special.no_speech});
    if (timestamps_) suppress.push_back(special.no_timestamps);
    suppress_ = sorted_tokens(std::move(suppress), n_vocab_);
    suppress_at_start_ = sorted_tokens(options.suppress_at_start, n_vocab_);
}

void WhisperRules::apply(std::span<const int> sampled, std::span<float> logits) const {
    CHECK(logits.size() == static_cast<size_t>(n_vocab_));
    if (sampled.empty()) mask(logits, suppress_at_start_);
    mask(logits, suppress_);
    if (timestamps_) apply_timestamps(sampled, logits);
}

void WhisperRules::apply_timestamps(std::span<const int> sampled, std::span<float> logits) const {
    if (sampled.empty()) {  // the first token is a timestamp, and an early one
        mask(logits, 0, timestamp_begin_);
        mask(logits, timestamp_begin_ + max_initial_timestamp_ + 1, n_vocab_);
        return;
    }
    bool last_is_timestamp = is_timestamp(sampled.back());
    bool opens_segment =
        last_is_timestamp && (sampled.size() < 2 || is_timestamp(sampled.end()[-2]));
    bool closes_segment = last_is_timestamp && !opens_segment;
    if (opens_segment) {  // text must follow
        mask(logits, timestamp_begin_, n_vocab_);
        return;
    }
    if (closes_segment) mask(logits, 0, eot_);  // a timestamp or the end must follow
    auto last =
        std::find_if(sampled.rbegin(), sampled.rend(), [&](int id) { return is_timestamp(id); });
    if (last != sampled.rend()) {
        // Time does not go back; a segment has a length, but the next may start where it ends.
        mask(logits, timestamp_begin_, closes_segment ? *last : *last + 1);
    }
    auto n_text = static_cast<size_t>(timestamp_begin_);
    if (log_sum_exp(logits.subspan(n_text)) > max_of(logits.first(n_text))) {
        mask(logits, 0, timestamp_begin_);
    }
}

LastWindowRules::LastWindowRules(const WhisperRules& rules, const SpecialTokens& special,
                                 i64 n_frames)
    : rules_(&rules),
      eot_(special.eot),
      timestamp_begin_(special.timestamp_begin),
      timestamp_end_(special.timestamp_begin +
                     static_cast<int>((n_frames - frames_said_min) / frames_per_timestamp)) {}

void LastWindowRules::apply(std::span<const int> sampled, std::span<float> logits) const {
    rules_->apply(sampled, logits);
    const size_t n = sampled.size();
    const bool opens_next = n > 2 && sampled[n - 1] >= timestamp_begin_ &&
                            sampled[n - 2] >= timestamp_begin_ && sampled[n - 1] < timestamp_end_;
    if (opens_next) mask(logits, eot_, eot_ + 1);
}

std::vector<int> non_speech_tokens(const Tokenizer& tokenizer) {
    constexpr const char* signs[] = {"\"",  "#",  "(",   ")",  "*",  "+",  "/",   ":",  ";",  "<",
                                     "=",   ">",  "@",   "[",  "\\", "]",  "^",   "_",  "`",  "{",
                                     "|",   "}",  "~",   "「", "」", "『", "』",  "<<", ">>", "<<<",
                                     ">>>", "--", "---", "-(", "-[", "('", "(\"", "((", "))", "(((",
                                     ")))", "[[", "]]",  "{{", "}}", "♪♪", "♪♪♪"};
    // These may be several tokens; the first is theirs alone (U+2640 ... U+267F).
    constexpr const char* music[] = {"♩", "♪", "♫", "♬", "♭", "♮", "♯"};
    std::vector<int> ids;
    auto add = [&](const std::string& text, bool only_whole) {
        std::vector<int> tokens = tokenizer.encode(text);
        if (tokens.size() == 1 || (!only_whole && !tokens.empty())) ids.push_back(tokens[0]);
    };
    // Hyphen and quote are fine inside of words, not before them.
    add(" -", false);
    add(" '", false);
    for (const char* sign : signs) add(sign, true), add(std::string(" ") + sign, true);
    for (const char* sign : music) add(sign, false), add(std::string(" ") + sign, false);
    return sorted_tokens(std::move(ids), tokenizer.n_tokens());
}

}  // namespace transcribe
