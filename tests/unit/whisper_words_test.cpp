// Words and their times: against the reference's transcribe() (data/whisper_words.json, made by
// tools/make_whisper_words_golden.py), and by hand where we differ on purpose.
#include "families/whisper/words.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "base/text.h"
#include "families/whisper/word_seek.h"

namespace transcribe::whisper {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<int>;

// A tokenizer that knows the bytes of some tokens.
class Bytes : public Tokenizer {
  public:
    explicit Bytes(std::map<int, std::string> bytes) : bytes_(std::move(bytes)) {}
    int n_tokens() const override { return static_cast<int>(bytes_.size()); }
    Ids encode(std::string_view) const override { return {}; }
    std::string_view bytes(int id) const override { return bytes_.at(id); }
    std::string decode(const Ids& ids) const override {
        std::string out;
        for (int id : ids) out += bytes_.at(id);
        return out;
    }
    int find(std::string_view) const override { return -1; }
    bool is_control(int) const override { return false; }

  private:
    std::map<int, std::string> bytes_;
};

// Tokens 0, 1, 2 ... with these bytes.
Bytes tokenizer_of(const std::vector<std::string>& pieces) {
    std::map<int, std::string> bytes;
    for (size_t i = 0; i < pieces.size(); i++) bytes[static_cast<int>(i)] = pieces[i];
    return Bytes(std::move(bytes));
}

Ids first_ids(int first, int n) {
    Ids ids;
    for (int i = 0; i < n; i++) ids.push_back(first + i);
    return ids;
}

std::vector<std::string> texts_of(const std::vector<TimedWord>& words) {
    std::vector<std::string> out;
    for (const TimedWord& word : words) out.push_back(word.text);
    return out;
}

std::vector<std::string> words_of_one(const std::vector<std::string>& pieces, WordBreaks breaks) {
    TimedSegment segment{first_ids(0, static_cast<int>(pieces.size())), 0, 0, {}};
    return texts_of(words_of(tokenizer_of(pieces), {&segment, 1}, breaks));
}

using Texts = std::vector<std::string>;

TEST(WhisperWords, SpacesAndPunctuationBegin) {
    EXPECT_EQ(words_of_one({"Hel", "lo", ",", " wor", "ld", "'s", "...", "!"}, WordBreaks::spaces),
              (Texts{"Hello", ",", " world's...", "!"}));
    EXPECT_EQ(words_of_one({" a", " ", "b"}, WordBreaks::spaces), (Texts{" a", " b"}));
}

TEST(WhisperWords, LanguagesWithoutSpacesAreCutAtCharacters) {
    EXPECT_EQ(word_breaks_of("ja"), WordBreaks::characters);
    EXPECT_EQ(word_breaks_of("yue"), WordBreaks::characters);
    EXPECT_EQ(word_breaks_of("ko"), WordBreaks::spaces);
    EXPECT_EQ(words_of_one({"今日", "\xE9\xBE", "\x98", "は"}, WordBreaks::characters),
              (Texts{"今日", "龘", "は"}));
}

TEST(WhisperWords, NoWordIsBrokenUtf8) {
    // Cut off at the end: left out, as in the segment's text.
    EXPECT_EQ(words_of_one({" a", " \xF0\x9F", "\x8E"}, WordBreaks::spaces), (Texts{" a", " "}));
    // Bytes that never become a character.
    EXPECT_EQ(words_of_one({"\xE3\x81", " b"}, WordBreaks::characters), (Texts{"\uFFFD", " b"}));
    std::mt19937 random(1);
    for (int i = 0; i < 2000; i++) {
        std::vector<std::string> pieces(1 + random() % 8);
        for (std::string& piece : pieces) {
            for (size_t n = 1 + random() % 3; n > 0; n--) {
                piece += " a\xE3\x81\x82\xF0\x9F\x8E\xB5"[random() % 9];
            }
        }
        std::string all, joined;
        for (const std::string& piece : pieces) all += piece;
        for (const std::string& word : words_of_one(pieces, WordBreaks::spaces)) {
            EXPECT_EQ(word, utf8_repair(word));
            joined += word;
        }
        EXPECT_EQ(joined, utf8_repair(all.substr(0, utf8_complete_prefix(all))));
    }
}

TEST(WhisperWords, AWordLiesInOneSegment) {
    Bytes tokenizer = tokenizer_of({" hel", "lo", " \xC3", "\xA9", ",", " \"", " yes"});
    std::vector<TimedSegment> segments{
        {{0}, 0, 0, {}}, {{1, 2}, 0, 0, {}}, {{3, 4, 5}, 0, 0, {}}, {{6}, 0, 0, {}}};
    auto words = words_of(tokenizer, segments, WordBreaks::spaces);
    merge_punctuations(words, "\"", ",");
    EXPECT_EQ(texts_of(words), (Texts{" hel", "lo", " é,", "", " \"", " yes"}));
    std::vector<size_t> owners;
    for (const TimedWord& word : words) owners.push_back(word.segment);
    EXPECT_EQ(owners, (std::vector<size_t>{0, 1, 2, 2, 2, 3}));
}

TEST(WhisperWords, MergedPunctuation) {
    Bytes tokenizer = tokenizer_of({" (", " \"", "Hi", ".", "\"", ")", " -"});
    TimedSegment segment{first_ids(0, 7), 0, 0, {}};
    auto words = words_of(tokenizer, {&segment, 1}, WordBreaks::spaces);
    merge_punctuations(words, "\"'\u201c\u00bf([{-", "\"'.\u3002,\uff0c!?:\u201d)]}\u3001");
    EXPECT_EQ(texts_of(words), (Texts{"", " ( \"Hi.\")", "", "", "", " -"}));
}

TEST(WhisperWords, WithoutTextNoWords) {
    std::vector<TimedSegment> segments(2);
    add_words(segments, {}, {tokenizer_of({}), WordBreaks::spaces, "", "", 0, 0});
    EXPECT_TRUE(segments[0].words.empty());
    EXPECT_FALSE(end_of_speech({}));
    EXPECT_EQ(end_of_speech(segments), 0.0);
}

// One recording of the golden file on its way through its windows.
class Recording {
  public:
    Recording(const Json& data, const Json& entry)
        : eot_(data["eot"]), begin_(data["timestamp_begin"]), entry_(entry) {}

    // -> as in the golden file: segments, and the seek after the last window
    std::pair<Json, i64> run(const Tokenizer& tokenizer) {
        i64 seek = 0;
        for (const Json& window : entry_[3]) {
            EXPECT_EQ(seek, window[0].get<i64>()) << entry_;
            seek = run_window(tokenizer, window);
        }
        return {said_, seek};
    }

  private:
    i64 run_window(const Tokenizer& tokenizer, const Json& window) {
        i64 seek = window[0], n_content = entry_[2];
        Ids tokens = window[1];
        WordWindow at{.window = {seek, std::min<i64>(3000, n_content - seek)},
                      .window_max_frames = 3000,
                      .recording_frames = n_content,
                      .last_speech_s = last_speech_s_,
                      .silence_s = entry_[1]};
        Cut cut = cut_window(tokens, begin_, at.window);
        at.ends_in_single_timestamp = cut.ends_in_single_timestamp;
        at.seek_after_frames = seek + cut.advance_frames;
        std::vector<TimedSegment> segments;
        for (const Slice& slice : cut.slices) segments.push_back(segment_of(tokens, slice));
        add_words(segments, {window[2], window[3]},
                  {tokenizer, word_breaks_of(entry_[0].get<std::string>()), "\"'\u201c\u00bf([{-",
                   "\"'.\u3002,\uff0c!\uff01?\uff1f:\uff1a\u201d)]}\u3001",
                   static_cast<double>(seek) / 100, last_speech_s_});
        AfterWords after = after_words(segments, at);
        segments.resize(after.n_segments);
        last_speech_s_ = end_of_speech(segments).value_or(last_speech_s_);
        for (size_t i = 0; i < segments.size(); i++) {
            auto slice = cut.slices[i];
            Ids own(tokens.begin() + static_cast<long>(slice.first),
                    tokens.begin() + static_cast<long>(slice.last));
            say(tokenizer, seek, segments[i], own);
        }
        return after.seek_frames;
    }

    TimedSegment segment_of(const Ids& tokens, const Slice& slice) const {
        TimedSegment out;
        for (size_t i = slice.first; i < slice.last; i++) {
            if (tokens[i] < eot_) out.tokens.push_back(tokens[i]);
        }
        out.t0_s = static_cast<double>(slice.t0_frames) / 100;
        out.t1_s = static_cast<double>(slice.t1_frames) / 100;
        return out;
    }

    void say(const Tokenizer& tokenizer, i64 seek, const TimedSegment& segment, const Ids& tokens) {
        std::string text = tokenizer.decode(segment.tokens);
        if (segment.t0_s == segment.t1_s || trim(text).empty()) return;
        Json words = Json::array();
        for (const TimedWord& word : segment.words) {
            words.push_back({word.text, word.t0_s, word.t1_s, word.probability});
        }
        said_.push_back({seek, segment.t0_s, segment.t1_s, tokens, words});
    }

    int eot_, begin_;
    const Json& entry_;
    double last_speech_s_ = 0;
    Json said_ = Json::array();
};

void expect_equal(const Json& ours, const Json& theirs) {
    ASSERT_EQ(ours.size(), theirs.size()) << ours << theirs;
    for (size_t i = 0; i < ours.size(); i++) {
        if (ours[i].is_array()) {
            expect_equal(ours[i], theirs[i]);
        } else if (ours[i].is_number_float()) {
            EXPECT_NEAR(ours[i].get<double>(), theirs[i].get<double>(), 1e-4);
        } else {
            EXPECT_EQ(ours[i], theirs[i]);
        }
    }
}

TEST(WhisperWords, EqualTheReference) {
    auto data = Json::parse(std::ifstream(TESTS_DIR "/unit/data/whisper_words.json"));
    std::map<int, std::string> bytes;
    for (const Json& entry : data["bytes"]) {
        std::string hex = entry[1], raw;
        for (size_t i = 0; i < hex.size(); i += 2) {
            raw += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
        }
        bytes[entry[0]] = raw;
    }
    Bytes tokenizer(std::move(bytes));
    ASSERT_EQ(data["cases"].size(), 100u);
    for (const Json& entry : data["cases"]) {
        auto [said, seek] = Recording(data, entry).run(tokenizer);
        expect_equal(said, entry[5]);
        EXPECT_EQ(seek, entry[4].is_null() ? seek : entry[4].get<i64>());
        if (HasFailure()) FAIL() << entry << "\nours: " << said;
    }
}

}  // namespace
}  // namespace transcribe::whisper
