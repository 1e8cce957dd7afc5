#include "families/whisper/worker.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/stopwatch.h"
#include "base/text.h"
#include "base/trace.h"
#include "decode/quality.h"

namespace transcribe::whisper {

namespace {

// When a language is surer than this, the padding of the window does not change it, and its
// probability by less than 0.01: the second encoder pass is spared.
constexpr float sure_language = 0.95f;

// Drawn texts may ramble to the limit of a window; nobody says more than this in so many seconds.
size_t n_tokens_drawn_max(double seconds) {
    return 32 + static_cast<size_t>(10 * seconds);
}

RuleOptions rule_options(const Config& c, const Options& options) {
    RuleOptions rule;
    rule.timestamps = options.timestamps;
    rule.suppress = c.suppress;
    if (options.suppress_blank) rule.suppress_at_start = c.begin_suppress;
    if (options.suppress_tokens) {
        std::vector<int> ids = *options.suppress_tokens;
        bool and_list = std::erase(ids, -1) > 0;
        if (and_list) ids.insert(ids.end(), c.suppress.begin(), c.suppress.end());
        rule.suppress = std::move(ids);
    }
    constexpr float timestamp_s = 0.02f;
    rule.max_initial_timestamp =
        static_cast<int>(std::lround(options.max_initial_timestamp_s / timestamp_s));
    return rule;
}

// Stretches that can be decoded side by side.
size_t n_passages(std::span<const Recording> recordings) {
    size_t n = 0;
    for (const Recording& recording : recordings) n += std::max<size_t>(1, recording.pieces.size());
    return n;
}

struct Seat {
    LongForm* form = nullptr;  // null: free
    Passage* passage = nullptr;
    Prompt prompt;
    std::optional<LastWindowRules> last_window;  // where the window is one
    std::unique_ptr<Search> search;
    float no_speech_prob = 0;
};

}  // namespace

struct WhisperWorker::Run {
    Run(WhisperWorker& worker, std::span<const Recording> recordings, const Options& options,
        std::span<Transcript> out)
        : facts_(worker.facts_),
          decoder_(*worker.decoder_),
          options_(options),
          rule_(facts_.config.ids, rule_options(facts_.config, options)),
          seats_(std::min(n_passages(recordings), static_cast<size_t>(worker.n_seats_max_))),
          mel_(static_cast<size_t>(facts_.config.net.n_mels * facts_.config.n_frames())),
          out_(out) {
        int index = 0;
        for (const Recording& recording : recordings) {
            forms_.push_back(std::make_unique<LongForm>(facts_, options, recording, index++,
                                                        static_cast<int>(seats_.size())));
        }
    }

    Status decode();
    // All recordings that are not done end with what they have.
    void finish(const Status& status);

  private:
    // Texts that a search at this temperature follows.
    int n_rows(float temperature) const {
        return std::max(1, temperature > 0 ? options_.best_of : options_.beam_size);
    }
    int n_seats() const { return static_cast<int>(seats_.size()); }
    Passage* next_window(LongForm*& form);
    Passage* next_passage(LongForm*& form);
    Status fill(int seat);
    Status find_language(int seat, Passage& passage);
    Status accept(int seat);
    Expected<std::vector<WindowText>> first_texts(int seat);
    Expected<std::vector<WindowText>> again(int seat, float temperature);
    void deliver(LongForm& form);
    Timings timings() const;  // up to now
    SearchSpec spec(const Seat& seat, float temperature) const;
    const LogitRule& rules(const Seat& seat) const;
    std::vector<WindowText> texts(const Seat& seat, const Search& search, float temperature) const;

    const Facts& facts_;
    WindowDecoder& decoder_;
    const Options& options_;
    WhisperRules rule_;
    std::vector<std::unique_ptr<LongForm>> forms_;  // null: delivered
    size_t n_open_ = 0;                             // forms that have been opened
    std::vector<Seat> seats_;
    std::vector<float> mel_, language_mel_;  // [n_mels, n_frames]
    std::span<Transcript> out_;
    double total_ms_ = 0;
    Stopwatch watch_{total_ms_};
};

Status WhisperWorker::run(std::span<const Recording> recordings, const Options& options,
                          std::span<Transcript> out) {
    decoder_->timings = {};
    Run run(*this, recordings, options, out);
    Status status = run.decode();
    run.finish(status);
    return status;
}

Status WhisperWorker::Run::decode() {
    TRY(decoder_.reserve(n_seats(), n_rows(options_.temperature)));
    while (true) {
        bool busy = false;
        for (int i = 0; i < n_seats(); i++) {
            if (!seats_[static_cast<size_t>(i)].form) TRY(fill(i));
            busy = busy || seats_[static_cast<size_t>(i)].form;
        }
        if (!busy) return {};
        TRY(decoder_.step());
        for (int i = 0; i < n_seats(); i++) {
            const Seat& seat = seats_[static_cast<size_t>(i)];
            if (seat.form && seat.search->done()) TRY(accept(i));
        }
    }
}

// A passage whose turn it is; opens recordings as there is room for them.
Passage* WhisperWorker::Run::next_passage(LongForm*& form) {
    for (size_t i = 0; i < forms_.size(); i++) {
        if (!forms_[i]) continue;
        form = forms_[i].get();
        if (i == n_open_) {
            Span span("scan");
            Stopwatch watch(decoder_.timings.audio);
            form->open();
            n_open_++;
        }
        if (Passage* passage = form->idle_passage()) return passage;
        if (form->done()) deliver(*form);
    }
    return nullptr;
}

Passage* WhisperWorker::Run::next_window(LongForm*& form) {
    while (Passage* passage = next_passage(form)) {
        Span span("mel");
        Stopwatch watch(decoder_.timings.mel);
        Expected<bool> found = passage->next_window(mel_);
        if (!found) form->fail(found.error());
        if (found && *found) return passage;
        form->settle();
    }
    return nullptr;
}

Status WhisperWorker::Run::fill(int i) {
    Seat& seat = seats_[static_cast<size_t>(i)];
    LongForm* form = nullptr;
    Passage* passage = next_window(form);
    if (!passage) return {};
    TRY(decoder_.encode(mel_, i));
    if (passage->needs_language()) TRY(find_language(i, *passage));
    passage->in_flight = true;
    seat.form = form;
    seat.passage = passage;
    seat.prompt = passage->prompt();
    seat.last_window.reset();
    if (passage->is_last_window()) {
        seat.last_window.emplace(rule_, facts_.config.ids, passage->window_frames());
    }
    seat.search = make_search(spec(seat, options_.temperature), rules(seat));
    TRY_SET(seat.no_speech_prob, decoder_.start(i, seat.prompt, *seat.search));
    return {};
}

Status WhisperWorker::Run::find_language(int i, Passage& passage) {
    TRY_SET(auto probabilities, decoder_.languages(i));
    bool sure = *std::max_element(probabilities.begin(), probabilities.end()) >= sure_language;
    language_mel_.resize(mel_.size());
    TRY_SET(bool differs, passage.language_window(language_mel_));
    if (differs && !sure) {
        TRY(decoder_.encode(language_mel_, i));
        TRY_SET(probabilities, decoder_.languages(i));
        TRY(decoder_.encode(mel_, i));
    }
    passage.set_language(probabilities);
    return {};
}

const LogitRule& WhisperWorker::Run::rules(const Seat& seat) const {
    if (seat.last_window) return *seat.last_window;
    return rule_;
}

SearchSpec WhisperWorker::Run::spec(const Seat& seat, float temperature) const {
    size_t n_max = decoder_.n_tokens_max(seat.prompt);
    if (options_.max_tokens > 0) n_max = std::min(n_max, static_cast<size_t>(options_.max_tokens));
    if (temperature > 0) n_max = std::min(n_max, n_tokens_drawn_max(seat.passage->window_s()));
    return {.eot = facts_.config.ids.eot,
            .n_tokens_max = n_max,
            .n_rows = n_rows(temperature),
            .temperature = temperature,
            .patience = options_.patience,
            .length_penalty = options_.length_penalty,
            .seed = options_.seed,
            .ends_loops = options_.temperature_increment > 0,
            .forced = seat.passage->forced()};
}

std::vector<WindowText> WhisperWorker::Run::texts(const Seat& seat, const Search& search,
                                                  float temperature) const {
    size_t n_forced = seat.passage->forced().size();
    size_t n_max = spec(seat, temperature).n_tokens_max;
    std::vector<WindowText> out;
    for (Hypothesis& text : search.texts()) {
        size_t n_sampled = text.tokens.size() - n_forced;
        decoder_.timings.n_tokens += static_cast<int>(n_sampled);
        std::string said = utf8_repair(trim(text_of(facts_, text.tokens)));
        bool full = text.tokens.size() >= n_max;
        out.push_back({.tokens = std::move(text.tokens),
                       .logprobs = std::move(text.logprobs),
                       .avg_logprob = mean_logprob(text.sum_logprob, n_sampled),
                       .compression_ratio = compression_ratio(said),
                       .no_speech_prob = seat.no_speech_prob,
                       .temperature = temperature,
                       .looping = text.looping,
                       .full = full});
        out.back().overruns = seat.passage->overruns(out.back());
    }
    return out;
}

// Beyond the reference, where there are several tries: what only repeats its context is decoded
// once more without it. A refrain comes back all the same.
Expected<std::vector<WindowText>> WhisperWorker::Run::first_texts(int i) {
    Seat& seat = seats_[static_cast<size_t>(i)];
    auto first = texts(seat, *seat.search, options_.temperature);
    const bool echo = std::any_of(first.begin(), first.end(), [&seat](const WindowText& text) {
        return seat.passage->echoes(text);
    });
    if (!echo || options_.temperature_increment <= 0) return first;
    seat.passage->forget_context();
    seat.prompt = seat.passage->prompt();
    return again(i, options_.temperature);
}

Expected<std::vector<WindowText>> WhisperWorker::Run::again(int i, float temperature) {
    const Seat& seat = seats_[static_cast<size_t>(i)];
    auto search = make_search(spec(seat, temperature), rules(seat));
    TRY(decoder_.run_alone(i, seat.prompt, *search));
    return texts(seat, *search, temperature);
}

Status WhisperWorker::Run::accept(int i) {
    Seat& seat = seats_[static_cast<size_t>(i)];
    Ladder ladder(options_, seat.passage->window_s());
    TRY_SET(auto first, first_texts(i));
    ladder.add(first);
    while (auto temperature = ladder.next()) {
        TRY_SET(auto texts, again(i, *temperature));
        ladder.add(texts);
    }
    TextAlignment alignment;
    if (auto what = seat.passage->text_to_align(ladder)) {
        TRY_SET(alignment, decoder_.align(i, *what));
    }
    seat.passage->accept(ladder, alignment);
    seat.form->settle();
    decoder_.stop(i);
    seat = {};
    return {};
}

void WhisperWorker::Run::deliver(LongForm& form) {
    for (size_t i = 0; i < forms_.size(); i++) {
        if (forms_[i].get() != &form) continue;
        out_[i] = form.take(timings());
        forms_[i].reset();
    }
}

Timings WhisperWorker::Run::timings() const {
    Timings timings = decoder_.timings;
    timings.total = watch_.elapsed_ms();
    return timings;
}

void WhisperWorker::Run::finish(const Status& status) {
    for (size_t i = 0; i < forms_.size(); i++) {
        if (!forms_[i]) continue;
        if (!status) forms_[i]->interrupt(status.error());
        out_[i] = forms_[i]->take(timings());
    }
}

}  // namespace transcribe::whisper
