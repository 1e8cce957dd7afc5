#include "families/whisper/words.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/text.h"

namespace transcribe::whisper {

namespace {

constexpr std::string_view ascii_punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
constexpr std::string_view sentence_ends = ".\u3002!\uff01?\uff1f";
constexpr double frames_per_s = 50;
constexpr double median_max_s = 0.7;
// A segment's own time stands when its first or last word reaches further out than this.
constexpr double beyond_segment_max_s = 0.5;

// Python's `word in list` of strings: any part of the list counts, and "" is part of it.
bool is_in(std::string_view word, std::string_view list) {
    return list.find(word) != std::string_view::npos;
}

// The joined bytes of the segments' tokens, with each token's end, and where characters end.
struct Bytes {
    std::string all;
    std::vector<size_t> token_ends, segment_of;  // of each token
    std::vector<bool> is_end;                    // of a character, at each offset

    Bytes(const Tokenizer& tokenizer, std::span<const TimedSegment> segments) {
        for (size_t i = 0; i < segments.size(); i++) {
            for (int id : segments[i].tokens) {
                all += tokenizer.bytes(id);
                token_ends.push_back(all.size());
                segment_of.push_back(i);
            }
        }
        all.resize(utf8_complete_prefix(all));
        for (size_t& end : token_ends) end = std::min(end, all.size());
        is_end.resize(all.size() + 1, false);
        for (size_t at = 0; at < all.size();) {
            at += utf8_unit(std::string_view(all).substr(at));
            is_end[at] = true;
        }
    }
    bool ends_character(size_t token) const { return is_end[token_ends[token]]; }
};

bool starts_word(const TimedWord& part) {
    return part.text.starts_with(' ') || is_in(trim(part.text), ascii_punctuation);
}

// The usual length of a word, which decides what is too long.
struct Lengths {
    double median_s = 0, max_s = 0;
};

Lengths lengths_of(std::span<const TimedWord> words) {
    std::vector<double> lengths;
    for (const TimedWord& word : words) {
        if (word.t1_s != word.t0_s) lengths.push_back(word.t1_s - word.t0_s);
    }
    if (lengths.empty()) return {};
    std::sort(lengths.begin(), lengths.end());
    size_t n = lengths.size();
    double median = n % 2 ? lengths[n / 2] : (lengths[n / 2 - 1] + lengths[n / 2]) / 2;
    median = std::min(median_max_s, median);
    return {median, median * 2};
}

void time_words(std::span<TimedWord> words, const TextAlignment& alignment) {
    for (TimedWord& word : words) {
        CHECK(word.first < word.last && word.last < alignment.frames.size());
        word.t0_s = alignment.frames[word.first] / frames_per_s;
        word.t1_s = alignment.frames[word.last] / frames_per_s;
        double sum = 0;
        for (size_t i = word.first; i < word.last; i++) sum += alignment.probabilities[i];
        word.probability = static_cast<float>(sum / static_cast<double>(word.last - word.first));
    }
}

// Around the end of a sentence a pause is no part of a word.
void shorten_at_sentence_ends(std::span<TimedWord> words, const Lengths& lengths) {
    if (lengths.max_s <= 0) return;
    for (size_t i = 1; i < words.size(); i++) {
        TimedWord& word = words[i];
        if (word.t1_s - word.t0_s <= lengths.max_s) continue;
        if (is_in(word.text, sentence_ends)) {
            word.t1_s = word.t0_s + lengths.max_s;
        } else if (is_in(words[i - 1].text, sentence_ends)) {
            word.t0_s = word.t1_s - lengths.max_s;
        }
    }
}

// Times of the recording, in steps of 10 ms.
double rounded(double s) {
    return std::nearbyint(s * 100) / 100;
}

// After a pause the first word, or the first two, may not be longer than twice the usual.
void shorten_after_pause(std::span<TimedWord> words, const Lengths& lengths, double last_speech_s) {
    TimedWord& first = words[0];
    TimedWord* second = words.size() > 1 ? &words[1] : nullptr;
    bool paused = first.t1_s - last_speech_s > lengths.median_s * 4;
    bool is_long = first.t1_s - first.t0_s > lengths.max_s ||
                   (second && second->t1_s - first.t0_s > lengths.max_s * 2);
    if (!paused || !is_long) return;
    if (second && second->t1_s - second->t0_s > lengths.max_s) {
        double boundary = std::max(second->t1_s / 2, second->t1_s - lengths.max_s);
        first.t1_s = second->t0_s = boundary;
    }
    first.t0_s = std::max(0.0, first.t1_s - lengths.max_s);
}

// A segment begins and ends with its words, unless they reach far out of it.
void fit(TimedSegment& segment, const Lengths& lengths) {
    TimedWord &first = segment.words.front(), &last = segment.words.back();
    if (segment.t0_s < first.t1_s && segment.t0_s - beyond_segment_max_s > first.t0_s) {
        first.t0_s = std::max(0.0, std::min(first.t1_s - lengths.median_s, segment.t0_s));
    } else {
        segment.t0_s = first.t0_s;
    }
    if (segment.t1_s > last.t0_s && segment.t1_s + beyond_segment_max_s < last.t1_s) {
        last.t1_s = std::max(last.t0_s + lengths.median_s, segment.t1_s);
    } else {
        segment.t1_s = last.t1_s;
    }
}

// What was moved may lie over what came before.
void keep_order(std::span<TimedSegment> segments, double last_speech_s) {
    double last = last_speech_s;
    for (TimedSegment& segment : segments) {
        if (segment.words.empty()) continue;
        segment.t0_s = std::max(segment.t0_s, last);
        for (TimedWord& word : segment.words) {
            word.t0_s = std::max(word.t0_s, last);
            last = word.t1_s = std::max(word.t1_s, word.t0_s);
        }
        segment.t1_s = std::max(segment.t1_s, segment.t0_s);
    }
}

}  // namespace

WordBreaks word_breaks_of(std::string_view language) {
    constexpr std::string_view without_spaces[] = {"zh", "ja", "th", "lo", "my", "yue"};
    auto found = std::find(std::begin(without_spaces), std::end(without_spaces), language);
    return found == std::end(without_spaces) ? WordBreaks::spaces : WordBreaks::characters;
}

std::vector<TimedWord> words_of(const Tokenizer& tokenizer, std::span<const TimedSegment> segments,
                                WordBreaks breaks) {
    Bytes bytes(tokenizer, segments);
    std::vector<TimedWord> words;
    size_t first = 0, begin = 0;
    for (size_t i = 0; i < bytes.token_ends.size(); i++) {
        size_t end = bytes.token_ends[i];
        if (end == begin || !bytes.ends_character(i)) continue;
        TimedWord part{.text = utf8_repair(std::string_view(bytes.all).substr(begin, end - begin)),
                       .segment = bytes.segment_of[i],
                       .first = first,
                       .last = i + 1};
        bool is_new = breaks == WordBreaks::characters || words.empty() ||
                      words.back().segment != part.segment || starts_word(part);
        if (is_new) {
            words.push_back(std::move(part));
        } else {
            words.back().text += part.text;
            words.back().last = part.last;
        }
        first = i + 1;
        begin = end;
    }
    return words;
}

void merge_punctuations(std::vector<TimedWord>& words, std::string_view prepend,
                        std::string_view append) {
    size_t n = words.size();
    for (size_t i = n - 1, next = n; n > 0 && i < n; i--) {
        TimedWord& word = words[i];
        bool joins = next < n && words[next].segment == word.segment &&
                     word.text.starts_with(' ') && is_in(trim(word.text), prepend);
        if (joins) {
            words[next].text.insert(0, word.text);
            words[next].first = word.first;
            word.text.clear();
        } else {
            next = i;
        }
    }
    for (size_t i = 1, before = 0; i < n; i++) {
        TimedWord &word = words[i], &previous = words[before];
        bool joins = previous.segment == word.segment && !previous.text.ends_with(' ') &&
                     is_in(word.text, append);
        if (joins) {
            previous.text += word.text;
            previous.last = std::max(previous.last, word.last);
            word.text.clear();
        } else {
            before = i;
        }
    }
}

void add_words(std::span<TimedSegment> segments, const TextAlignment& alignment,
               const WordContext& context) {
    std::vector<TimedWord> words = words_of(context.tokenizer, segments, context.breaks);
    time_words(words, alignment);
    Lengths lengths = lengths_of(words);
    shorten_at_sentence_ends(words, lengths);
    merge_punctuations(words, context.prepend, context.append);
    for (TimedWord& word : words) {
        if (word.text.empty()) continue;
        word.t0_s = rounded(context.window_t0_s + word.t0_s);
        word.t1_s = rounded(context.window_t0_s + word.t1_s);
        segments[word.segment].words.push_back(std::move(word));
    }
    double last_speech_s = context.last_speech_s;
    for (TimedSegment& segment : segments) {
        if (segment.words.empty()) continue;
        shorten_after_pause(segment.words, lengths, last_speech_s);
        fit(segment, lengths);
        last_speech_s = segment.t1_s;
    }
    keep_order(segments, context.last_speech_s);
}

}  // namespace transcribe::whisper
