#include "families/canary_qwen/worker.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/stopwatch.h"
#include "base/trace.h"
#include "families/canary_qwen/prompt.h"
#include "families/canary_qwen/transcribing.h"

namespace transcribe::canary_qwen {

namespace {

int context_of(const WorkerOptions& options, const Config& config) {
    return options.n_ctx > 0 ? std::min(options.n_ctx, config.n_positions) : config.n_positions;
}

constexpr int n_answer_min = 16, n_answer_max = 1024;  // tokens

// A piece that is computed beside others.
struct Row {
    Transcribing* recording;
    Piece piece;
    i64 ms() const { return piece.span.t1_ms - piece.span.t0_ms; }
};

}  // namespace

CanaryQwenWorker::CanaryQwenWorker(Compute& compute, const CanaryQwenModel& model,
                                   const WorkerOptions& options)
    : model_(model),
      batch_size_(options.batch_size),
      encoder_(compute, model.net().enc, model.config().audio, model.mel()),
      speaker_(compute, model.net().dec, context_of(options, model.config()), model.cache_dtype(),
               model.config().im_end) {}

Limits CanaryQwenWorker::limits() const {
    const int n_prompt = make_prompt(model_.config(), model_.tokenizer(), "").n_tokens();
    return {max_audio_ms(speaker_.n_ctx(), n_prompt),
            LmSession::cache_bytes_max(model_.config().lm, speaker_.n_ctx(), model_.cache_dtype(),
                                       batch_size_)};
}

Expected<Answer> CanaryQwenWorker::answer(std::string_view text, const Options& options) {
    const Tokenizer& tokenizer = model_.tokenizer();
    ToSay what{{make_chat(model_.config(), tokenizer, text), 0, {}}, 0};
    const auto n_prompt = static_cast<int>(what.prompt.ids.size());
    const int n_left = speaker_.n_ctx() - n_prompt;
    if (n_left < n_answer_min) {
        return Error{
            Code::invalid_argument,
            fmt::format("the text has {} tokens; with an answer at most {} fit the "
                        "context of {}",
                        n_prompt, std::max(0, speaker_.n_ctx() - n_answer_min), speaker_.n_ctx())};
    }
    what.n_tokens_max =
        std::min(n_left, options.max_tokens > 0 ? options.max_tokens : n_answer_max);
    Said said;
    TRY(speaker_.speak({&what, 1}, {&said, 1}));
    Answer answer{text_of(tokenizer, said.tokens), said.tokens, ""};
    if (said.end == Said::End::at_the_limit) {
        answer.note = fmt::format("the answer met its limit of {} tokens", what.n_tokens_max);
    } else if (said.end == Said::End::in_a_loop) {
        answer.note = "the answer repeated itself and was cut";
    }
    return answer;
}

struct CanaryQwenWorker::Run {
    Run(CanaryQwenWorker& worker, std::span<const Recording> recordings, const Options& options)
        : worker_(worker),
          options_(options),
          prompt_(make_prompt(worker.model_.config(), worker.model_.tokenizer(),
                              options.initial_prompt)) {
        const int n_ctx = worker.speaker_.n_ctx(), n_prompt = prompt_.n_tokens();
        for (size_t i = 0; i < recordings.size(); i++) {
            forms_.emplace_back(recordings[i], options, static_cast<int>(i));
            forms_.back().limit(max_audio_ms(n_ctx, n_prompt), n_prompt, n_ctx);
        }
    }

    Status decode();
    void finish(const Status& status, std::span<Transcript> out);

  private:
    std::vector<Row> next_rows();
    Status transcribe(std::span<const Row> rows);
    int n_tokens_max(const Row& row) const;

    CanaryQwenWorker& worker_;
    const Options& options_;
    Prompt prompt_;
    std::vector<Transcribing> forms_;
    size_t at_ = 0;  // forms before it are read to their end
    Timings timings_;
    Stopwatch watch_{timings_.total};
};

Status CanaryQwenWorker::run(std::span<const Recording> recordings, const Options& options,
                             std::span<Transcript> out) {
    Run run(*this, recordings, options);
    const Status status = run.decode();
    run.finish(status, out);
    return status;
}

Status CanaryQwenWorker::Run::decode() {
    worker_.speaker_.prefill_ms = worker_.speaker_.step_ms = 0;
    worker_.speaker_.n_steps = 0;
    for (;;) {
        const std::vector<Row> rows = next_rows();
        if (rows.empty()) return {};
        TRY(transcribe(rows));
        for (const Row& row : rows) row.recording->report_progress();
    }
}

std::vector<Row> CanaryQwenWorker::Run::next_rows() {
    Span span("read");
    Stopwatch watch(timings_.audio);
    std::vector<Row> rows;
    while (at_ < forms_.size() && rows.size() < static_cast<size_t>(worker_.batch_size_)) {
        if (const Piece* piece = forms_[at_].next()) {
            rows.push_back({&forms_[at_], *piece});
        } else {
            at_++;
        }
    }
    return rows;
}

int CanaryQwenWorker::Run::n_tokens_max(const Row& row) const {
    const int n = n_text_tokens_max(row.ms());
    return options_.max_tokens > 0 ? std::min(n, options_.max_tokens) : n;
}

Status CanaryQwenWorker::Run::transcribe(std::span<const Row> rows) {
    timings_.n_windows += static_cast<int>(rows.size());
    std::vector<std::span<const float>> clips;
    for (const Row& row : rows) clips.push_back(row.piece.samples);
    std::vector<AudioEmbeddings> heard;
    {
        Stopwatch watch(timings_.encode);
        TRY_SET(heard, worker_.encoder_.encode(clips));
    }
    std::vector<ToSay> to_say;
    for (size_t i = 0; i < rows.size(); i++) {
        to_say.push_back({prompt_.with(heard[i].values, heard[i].n_frames), n_tokens_max(rows[i])});
    }
    std::vector<Said> said(rows.size());
    const Status status = worker_.speaker_.speak(to_say, said);
    for (size_t i = 0; i < rows.size(); i++) {
        timings_.n_tokens += static_cast<int>(said[i].tokens.size());
        rows[i].recording->accept(rows[i].piece.span, said[i], worker_.model_.tokenizer());
    }
    return status;
}

void CanaryQwenWorker::Run::finish(const Status& status, std::span<Transcript> out) {
    timings_.prefill = worker_.speaker_.prefill_ms;
    timings_.step = worker_.speaker_.step_ms;
    timings_.n_steps = worker_.speaker_.n_steps;
    Timings timings = timings_;
    timings.total = watch_.elapsed_ms();
    for (size_t i = 0; i < forms_.size(); i++) {
        if (!status) forms_[i].interrupt(status.error());
        out[i] = forms_[i].take(timings);
    }
}

}  // namespace transcribe::canary_qwen
