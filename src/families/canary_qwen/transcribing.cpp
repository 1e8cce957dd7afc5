#include "families/canary_qwen/transcribing.h"

#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "decode/quality.h"
#include "families/canary_qwen/config.h"

namespace transcribe::canary_qwen {

namespace {

// Ids of the vocabulary that stand for nothing are written so in model files.
constexpr std::string_view unused = "<|unused_";

double seconds(i64 ms) {
    return static_cast<double>(ms) / 1000;
}

}  // namespace

std::string text_of(const Tokenizer& tokenizer, std::span<const int> tokens) {
    std::string bytes;
    for (int id : tokens) {
        std::string_view own = tokenizer.bytes(id);
        if (!own.starts_with(unused)) bytes += own;
    }
    return utf8_repair(trim(bytes));
}

Transcribing::Transcribing(const Recording& recording, const Options& options, int index)
    : options_(options), index_(index), reader_(recording, piece_ms_max) {
    transcript_.language = options.language;
    transcript_.language_probability = 1;  // known, not detected
}

void Transcribing::limit(i64 ms_max, int n_prompt, int n_ctx) {
    ms_max_ = ms_max;
    n_prompt_ = n_prompt;
    n_ctx_ = n_ctx;
    too_long(reader_.longest_ms());
}

bool Transcribing::too_long(i64 ms) {
    if (ms <= ms_max_) return false;
    fail(Outcome::too_long,
         {Code::invalid_argument,
          fmt::format("{:.2f} s of sound are too long: beside a prompt of {} tokens and the text, "
                      "at most {:.2f} s fit the context of {} tokens; give the session a larger "
                      "one or a shorter recording",
                      seconds(ms), n_prompt_, seconds(ms_max_), n_ctx_)});
    return true;
}

void Transcribing::fail(Outcome outcome, Error error) {
    transcript_.outcome = outcome;
    transcript_.error = std::move(error);
    ended_ = true;
}

const Piece* Transcribing::next() {
    while (!ended_) {
        auto piece = reader_.next();
        if (!piece) {
            fail(Outcome::invalid, piece.error());
        } else if (!*piece) {
            ended_ = true;
        } else if (!too_long((*piece)->span.t1_ms - (*piece)->span.t0_ms) &&
                   !(*piece)->is_silent()) {
            piece_ = *std::move(piece);
            n_open_++;
            return &*piece_;
        }
    }
    return nullptr;
}

void Transcribing::note(const std::string& sentence) {
    transcript_.note += (transcript_.note.empty() ? "" : "; ") + sentence;
}

void Transcribing::accept(TimeSpan span, const Said& said, const Tokenizer& tokenizer) {
    if (said.end != Said::End::cut_short) n_open_--;
    if (said.end == Said::End::at_the_limit) {
        transcript_.outcome = Outcome::truncated;
        note(
            fmt::format("the text from {:.2f} s to {:.2f} s met its limit of {} tokens and is not "
                        "complete",
                        seconds(span.t0_ms), seconds(span.t1_ms), said.tokens.size()));
    } else if (said.end == Said::End::in_a_loop) {
        transcript_.outcome = Outcome::truncated;
        note(fmt::format("the text from {:.2f} s to {:.2f} s repeated itself and was cut",
                         seconds(span.t0_ms), seconds(span.t1_ms)));
    }
    const std::string text = text_of(tokenizer, said.tokens);
    if (text.empty()) return;
    Segment segment;
    segment.id = static_cast<int>(transcript_.segments.size());
    segment.seek = span.t0_ms / 10;
    segment.t0_ms = span.t0_ms;
    segment.t1_ms = span.t1_ms;
    segment.text = " " + text;
    segment.tokens = said.tokens;
    for (float logprob : said.logprobs) segment.token_probabilities.push_back(std::exp(logprob));
    segment.avg_logprob = mean_logprob(said.sum_logprob, said.tokens.size());
    segment.compression_ratio = compression_ratio(text);
    if (options_.on_segment) options_.on_segment(index_, segment);
    transcript_.segments.push_back(std::move(segment));
}

void Transcribing::report_progress() const {
    if (!options_.on_progress) return;
    const double done_s = static_cast<double>(reader_.n_samples()) / sample_rate;
    options_.on_progress(index_, done_s, reader_.total_s());
}

void Transcribing::interrupt(const Error& error) {
    if (ended_ && n_open_ == 0) return;  // it is done, or a fault ended it
    transcript_.outcome = Outcome::truncated;
    transcript_.error = error;
}

Transcript Transcribing::take(const Timings& timings) {
    for (const Segment& segment : transcript_.segments) transcript_.text += segment.text;
    transcript_.text = std::string(trim(transcript_.text));
    transcript_.duration_s = static_cast<double>(reader_.n_samples()) / sample_rate;
    transcript_.timings = timings;
    return std::move(transcript_);
}

}  // namespace transcribe::canary_qwen
