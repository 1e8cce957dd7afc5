#include "families/whisper/worker.h"

#include "base/stopwatch.h"
#include "base/trace.h"

namespace transcribe::whisper {

namespace {

// The reference's temperatures: from the first by the increment up to 1.
std::vector<float> ladder(const Options& options) {
    std::vector<float> temperatures{options.temperature};
    if (options.temperature_increment <= 0) return temperatures;
    for (int i = 1;; i++) {
        float t = options.temperature + static_cast<float>(i) * options.temperature_increment;
        if (t > 1.0f + 1e-6f) return temperatures;
        temperatures.push_back(t);
    }
}

}  // namespace

Status WhisperWorker::run(std::span<AudioSource* const> recordings, const Options& options,
                          std::span<Transcript> out) {
    auto n_max = static_cast<size_t>(n_rows_max_);
    Status status;
    for (size_t at = 0; at < recordings.size(); at += n_max) {
        double total_ms = 0;
        Stopwatch watch(total_ms);
        decoder_->timings = {};
        std::deque<LongForm> forms;
        size_t n = std::min(n_max, recordings.size() - at);
        for (size_t i = at; i < at + n; i++) {
            forms.emplace_back(facts_, options, *recordings[i], static_cast<int>(i));
        }
        if (status) status = run_group(forms, options);
        decoder_->timings.total = watch.elapsed_ms();
        for (size_t i = 0; i < n; i++) {
            if (!status) forms[i].interrupt(status.error());
            out[at + i] = forms[i].take(decoder_->timings);
        }
    }
    return status;
}

Status WhisperWorker::run_group(std::deque<LongForm>& forms, const Options& options) {
    {
        Span span("scan");
        Stopwatch watch(decoder_->timings.audio);
        for (LongForm& form : forms) form.open();
    }
    while (true) {
        std::vector<LongForm*> rows = gather(forms);
        if (rows.empty()) return {};
        auto n = static_cast<int>(rows.size());
        TRY(decoder_->encode(mels_, n));
        bool ask = false;
        for (LongForm* row : rows) ask = ask || row->needs_language();
        if (ask) {
            TRY_SET(auto probabilities, decoder_->languages(n));
            for (size_t i = 0; i < rows.size(); i++) {
                if (rows[i]->needs_language()) rows[i]->set_language(probabilities[i]);
            }
        }
        TRY(decode(rows, options));
    }
}

std::vector<LongForm*> WhisperWorker::gather(std::deque<LongForm>& forms) {
    Span span("mel");
    Stopwatch watch(decoder_->timings.mel);
    size_t n_window = static_cast<size_t>(facts_.config.net.n_mels) *
                      static_cast<size_t>(facts_.config.n_frames());
    std::vector<LongForm*> rows;
    mels_.resize(n_window * forms.size());
    for (LongForm& form : forms) {
        std::span<float> mel(&mels_[n_window * rows.size()], n_window);
        if (!form.done() && form.next_window(mel)) rows.push_back(&form);
    }
    mels_.resize(n_window * rows.size());
    return rows;
}

Status WhisperWorker::decode(std::span<LongForm* const> rows, const Options& options) {
    const Config& c = facts_.config;
    WhisperRules rule(c.ids, {.suppress = c.suppress,
                              .suppress_at_start = c.begin_suppress,
                              .timestamps = options.timestamps});
    std::mt19937 random(options.seed);
    std::vector<Prompt> prompts;
    for (LongForm* row : rows) prompts.push_back(row->prompt());
    std::vector<float> temperatures = ladder(options);
    TRY_SET(auto texts, decoder_->decode(prompts, {0, static_cast<int>(rows.size())},
                                         {rule, temperatures[0], random}));
    for (size_t i = 0; i < rows.size(); i++) {
        for (size_t t = 1; t < temperatures.size() && rows[i]->needs_retry(texts[i]); t++) {
            TRY_SET(auto again, decoder_->decode({&prompts[i], 1}, {static_cast<int>(i), 1},
                                                 {rule, temperatures[t], random}));
            texts[i] = std::move(again[0]);
        }
        rows[i]->accept(texts[i]);
    }
    return {};
}

}  // namespace transcribe::whisper
