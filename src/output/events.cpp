#include "output/events.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "output/cues.h"

namespace transcribe {

namespace {

using Json = nlohmann::ordered_json;  // keys in the order of the schema

double seconds(i64 ms) {
    return static_cast<double>(ms) / 1000;
}

// The shortest number that reads back as the same float: 0.2, not 0.20000000298023224.
double number(float value) {
    return std::stod(fmt::format("{}", value));
}

std::string dump(const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json words_json(const std::vector<Word>& words) {
    Json list = Json::array();
    for (const Word& word : words) {
        list.push_back({{"word", word.text},
                        {"start", seconds(word.t0_ms)},
                        {"end", seconds(word.t1_ms)},
                        {"probability", number(word.probability)}});
    }
    return list;
}

Json segment_json(const Segment& segment) {
    Json value = {{"id", segment.id},
                  {"seek", segment.seek},
                  {"start", seconds(segment.t0_ms)},
                  {"end", seconds(segment.t1_ms)},
                  {"text", segment.text},
                  {"tokens", segment.tokens},
                  {"temperature", number(segment.temperature)},
                  {"avg_logprob", number(segment.avg_logprob)},
                  {"compression_ratio", number(segment.compression_ratio)},
                  {"no_speech_prob", number(segment.no_speech_prob)}};
    if (!segment.words.empty()) value["words"] = words_json(segment.words);
    return value;
}

}  // namespace

std::string transcript_json(const Transcript& transcript) {
    Json segments = Json::array();
    for (const Segment& segment : transcript.segments) {
        segments.push_back(segment_json(within(segment, transcript.duration_s)));
    }
    return dump({{"text", transcript.text},
                 {"language", transcript.language},
                 {"language_probability", transcript.language_probability},
                 {"duration", transcript.duration_s},
                 {"segments", std::move(segments)}});
}

std::string segment_event(std::string_view file, const Segment& segment) {
    Json event = {{"event", "segment"}, {"file", file}};
    event.update(segment_json(segment));
    return dump(event);
}

std::string commit_event(std::string_view file, const std::vector<Word>& words) {
    std::string text;
    for (const Word& word : words) text += word.text;
    return dump({{"event", "commit"},
                 {"file", file},
                 {"start", seconds(words.front().t0_ms)},
                 {"end", seconds(words.back().t1_ms)},
                 {"text", text},
                 {"words", words_json(words)}});
}

std::string partial_event(std::string_view file, std::string_view text) {
    return dump({{"event", "partial"}, {"file", file}, {"text", text}});
}

std::string done_event(std::string_view file, const Transcript& transcript) {
    return dump({{"event", "done"},
                 {"file", file},
                 {"text", transcript.text},
                 {"language", transcript.language},
                 {"duration", transcript.duration_s},
                 {"complete", transcript.outcome == Outcome::complete}});
}

std::string error_event(std::string_view file, const Error& error) {
    return dump({{"event", "error"}, {"file", file}, {"message", error.what}});
}

}  // namespace transcribe
