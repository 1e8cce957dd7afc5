#include "api/result.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "output/writers.h"

namespace transcribe::api {

namespace {

Refusal refusal_of(const Transcript& transcript) {
    switch (transcript.outcome) {
        case Outcome::complete: return {};
        case Outcome::too_long: return {TRANSCRIBE_INPUT_TOO_LONG, transcript.error.what};
        case Outcome::invalid: return refusal(transcript.error);
        case Outcome::truncated: break;
    }
    if (transcript.error.code == Code::aborted) return {TRANSCRIBE_ABORTED, "cancelled"};
    return {TRANSCRIBE_OUTPUT_TRUNCATED, transcript.error.what};
}

}  // namespace

transcribe_word word_view(const Word& word) {
    return {word.text.c_str(), word.t0_ms, word.t1_ms, word.probability};
}

SegmentView::SegmentView(const Segment& segment) : segment_(segment) {
    for (const Word& word : segment.words) words_.push_back(word_view(word));
    for (size_t i = 0; i < segment.tokens.size(); i++) {
        bool known = i < segment.token_probabilities.size();
        tokens_.push_back({segment.tokens[i], known ? segment.token_probabilities[i] : 0});
    }
}

transcribe_segment SegmentView::c() const {
    transcribe_segment c{};
    c.text = segment_.text.c_str();
    c.t0_ms = segment_.t0_ms;
    c.t1_ms = segment_.t1_ms;
    c.words = words_.data();
    c.n_words = words_.size();
    c.tokens = tokens_.data();
    c.n_tokens = tokens_.size();
    c.temperature = segment_.temperature;
    c.avg_logprob = segment_.avg_logprob;
    c.compression_ratio = segment_.compression_ratio;
    c.no_speech_prob = segment_.no_speech_prob;
    return c;
}

ResultObject::ResultObject(Transcript transcript)
    : refusal_(refusal_of(transcript)), transcript_(std::move(transcript)) {
    segments_.reserve(transcript_.segments.size());
    for (const Segment& segment : transcript_.segments) segments_.emplace_back(segment);
}

transcribe_result_info ResultObject::info() const {
    const Timings& t = transcript_.timings;
    transcribe_result_info c{};
    c.status = refusal_.status;
    c.message = refusal_.what.c_str();
    c.text = transcript_.text.c_str();
    c.language = transcript_.language.c_str();
    c.language_probability = transcript_.language_probability;
    c.duration_ms = std::llround(transcript_.duration_s * 1000);
    c.n_segments = segments_.size();
    c.note = transcript_.note.c_str();
    c.mel_ms = t.audio + t.mel;
    c.encode_ms = t.encode;
    c.decode_ms = t.prefill + t.step + t.align;
    c.total_ms = t.total;
    return c;
}

transcribe_segment ResultObject::segment(size_t i) const {
    if (i < segments_.size()) return segments_[i].c();
    throw Refusal{TRANSCRIBE_INVALID_ARG,
                  fmt::format("there is no segment {}; the result has {}, counted from 0", i,
                              segments_.size())};
}

const char* ResultObject::formatted(const std::string& format) {
    std::lock_guard lock(mutex_);
    auto found = formatted_.find(format);
    if (found == formatted_.end()) {
        const Writer* writer = find_writer(format);
        if (!writer) {
            std::string known;
            for (const Writer& each : writers()) known += std::string(" ") + each.name;
            throw Refusal{TRANSCRIBE_INVALID_ARG,
                          fmt::format("there is no format \"{}\"; known are:{}",
                                      printable(format, 40), known)};
        }
        found = formatted_.emplace(format, writer->write(transcript_, {})).first;
    }
    return found->second.c_str();
}

}  // namespace transcribe::api
