// The words of a window's text, and when each was spoken (openai-whisper: tokenizer.py and
// timing.py, add_word_timestamps).
//
// tokens -> words -> times of their tokens -> long words at ends of sentences shortened ->
// punctuation joined -> segments, whose times follow their words.
//
// What bites: times are seconds in double, computed as the reference does, since its comparisons
// are of sums like 0.1 + 0.2. On purpose unlike it, a word lies within one segment, so that the
// words of a segment joined are its text, and words never overlap.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace transcribe::whisper {

// A language that puts no spaces between words gets one "word" a character, or what a token holds.
enum class WordBreaks { spaces, characters };
WordBreaks word_breaks_of(std::string_view language);

struct TimedWord {
    std::string text;            // valid UTF-8, with its leading space; "" when joined to another
    size_t segment = 0;          // whose text it is part of
    size_t first = 0, last = 0;  // tokens first ... last - 1 of the window's text
    double t0_s = 0, t1_s = 0;
    float probability = 0;  // mean of its tokens, joined punctuation aside
};

struct TimedSegment {
    std::vector<int> tokens;  // text only
    double t0_s = 0, t1_s = 0;
    std::vector<TimedWord> words;
};

// The words of the segments' tokens, in order. A character whose bytes lie in several tokens is
// never cut: it belongs to the segment where it ends, as in Segment::text. Bytes at the end of the
// last segment that only begin a character are left out.
std::vector<TimedWord> words_of(const Tokenizer& tokenizer, std::span<const TimedSegment> segments,
                                WordBreaks breaks);

// Joins words of `prepend` to the next, of `append` to the one before, within segments.
void merge_punctuations(std::vector<TimedWord>& words, std::string_view prepend,
                        std::string_view append);

// What the network says about the tokens of all segments, n in number.
struct TextAlignment {
    std::vector<int> frames;  // of 20 ms in the window: where each token begins, and the last ends
    std::vector<float> probabilities;
};

struct WordContext {
    const Tokenizer& tokenizer;
    WordBreaks breaks;
    std::string_view prepend, append;  // punctuation
    double window_t0_s;                // in the recording, as are all times that come back
    double last_speech_s;              // where the last word before this window ended
};

// Fills the words of the segments, and moves the segments' times to them.
void add_words(std::span<TimedSegment> segments, const TextAlignment& alignment,
               const WordContext& context);

}  // namespace transcribe::whisper
