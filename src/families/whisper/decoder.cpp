#include "families/whisper/decoder.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/stopwatch.h"
#include "base/trace.h"
#include "decode/pick.h"
#include "decode/quality.h"

namespace transcribe::whisper {

namespace {

constexpr int n_slots_step = 256;

int round_up_slots(int n, int n_max) {
    return std::min((n + n_slots_step - 1) / n_slots_step * n_slots_step, n_max);
}

}  // namespace

// Rows of text under way: what each has said, and what it says next.
struct WindowDecoder::Rows {
    std::vector<WindowText> texts;
    std::vector<std::vector<int>> next;  // one token a row
    std::vector<size_t> n_left;          // tokens a row may still take
    std::vector<bool> done;
    const Config& config;

    Rows(std::span<const Prompt> prompts, const Config& c, float temperature)
        : texts(prompts.size()), next(prompts.size()), done(prompts.size(), false), config(c) {
        for (WindowText& text : texts) text.temperature = temperature;
        // The cache holds n_text_ctx tokens, and one more is read from the last of them.
        for (const Prompt& p : prompts) {
            n_left.push_back(std::min(static_cast<size_t>(c.n_tokens_max()),
                                      static_cast<size_t>(c.net.n_text_ctx) + 1 - p.tokens.size()));
        }
    }

    // Picks the next token of every live row from logits [V, B], as whisper's GreedyDecoder does.
    void pick(std::span<float> logits, const Search& search, StepFeed& feed) {
        auto n_vocab = static_cast<size_t>(config.net.n_vocab);
        for (size_t i = 0; i < texts.size(); i++) {
            if (!done[i]) pick_row(i, logits.subspan(i * n_vocab, n_vocab), search);
            if (done[i]) feed.finish(static_cast<int>(i));
        }
    }

    void pick_row(size_t i, std::span<float> logits, const Search& search) {
        WindowText& text = texts[i];
        search.rule.apply(text.tokens, logits);
        Picked picked = search.temperature > 0
                            ? pick_sampled(logits, search.temperature, search.random)
                            : pick_greedy(logits);
        text.sum_logprob += picked.logprob;
        if (picked.id != config.ids.eot) text.tokens.push_back(picked.id);
        done[i] = picked.id == config.ids.eot || text.tokens.size() >= n_left[i];
        next[i] = {picked.id};
    }

    bool all_done() const { return std::find(done.begin(), done.end(), false) == done.end(); }
};

WindowDecoder::WindowDecoder(Compute& compute, const Net& net, const Config& config, KvCache self,
                             KvCache memory)
    : compute_(compute),
      net_(net),
      config_(config),
      self_(std::move(self)),
      memory_(std::move(memory)) {}

Expected<std::unique_ptr<WindowDecoder>> WindowDecoder::make(Compute& compute, const Net& net,
                                                             const Config& c, int n_windows_max) {
    // Caches as exact as the weights they are read with.
    Dtype dtype = Dtype::f32;
    KvCache::Sizes sizes{c.net.dec.n_layers, c.net.dec.d, c.net.n_text_ctx, n_windows_max, dtype};
    TRY_SET(KvCache self, KvCache::make(compute, sizes));
    sizes.n_ctx = c.net.n_audio_ctx;
    TRY_SET(KvCache memory, KvCache::make(compute, sizes));
    return std::make_unique<WindowDecoder>(compute, net, c, std::move(self), std::move(memory));
}

Status WindowDecoder::encode(const std::vector<float>& mels, int n_windows) {
    Span span("encode");
    Stopwatch watch(timings.encode);
    timings.n_windows += n_windows;
    in_ = {};
    Graph& g = compute_.begin();
    Tensor mel = g.input("mel", Dtype::f32, {config_.net.n_mels, config_.n_frames(), n_windows});
    net_.dec.remember(net_.enc(mel), memory_, {0, n_windows});
    return compute_.run({{mel, mels}});
}

void WindowDecoder::build(const StepShape& shape) {
    Graph& g = compute_.begin();
    in_ = StepInputs::declare(g, shape);
    logits_ = g.keep(net_.dec(in_, {self_, {0, rows_.n}, memory_, rows_}));
}

// -> logits [V, 2 B]: each row's last token, then each row's start-of-transcript
Expected<std::span<float>> WindowDecoder::feed_prompts(std::span<const Prompt> prompts,
                                                       StepFeed& feed) {
    Span span("prompt");
    Stopwatch watch(timings.prefill);
    size_t longest = 0;
    std::vector<std::vector<int>> tokens;
    for (const Prompt& p : prompts) {
        longest = std::max(longest, p.tokens.size());
        tokens.push_back(p.tokens);
    }
    auto n = static_cast<int>(longest);
    CHECK(n <= config_.net.n_text_ctx);
    build({n, rows_.n, round_up_slots(n, config_.net.n_text_ctx), 2 * rows_.n});
    feed.set(in_.shape, tokens, config_.ids.eot);
    for (int row = 0; row < rows_.n; row++) {
        feed.pick(row, prompts[static_cast<size_t>(row)].sot_at);
    }
    TRY(feed.run(compute_, in_));
    feed.advance();
    return compute_.values(logits_);
}

// -> logits [V, B]
Expected<std::span<float>> WindowDecoder::feed_step(const std::vector<std::vector<int>>& tokens,
                                                    StepFeed& feed) {
    Span span("step");
    Stopwatch watch(timings.step);
    timings.n_steps++;
    int n_slots = round_up_slots(feed.longest() + 1, config_.net.n_text_ctx);
    if (in_.shape.n_tokens != 1 || in_.shape.n_picks != rows_.n || in_.shape.n_slots < n_slots) {
        build({1, rows_.n, n_slots, rows_.n});
    }
    feed.set(in_.shape, tokens, config_.ids.eot);
    TRY(feed.run(compute_, in_));
    feed.advance();
    return compute_.values(logits_);
}

Expected<std::vector<WindowText>> WindowDecoder::decode(std::span<const Prompt> prompts,
                                                        KvCache::Rows memory_rows,
                                                        const Search& search) {
    rows_ = memory_rows;
    Rows rows(prompts, config_, search.temperature);
    StepFeed feed(rows_.n);
    TRY_SET(std::span<float> logits, feed_prompts(prompts, feed));
    auto n_vocab = static_cast<size_t>(config_.net.n_vocab);
    for (size_t i = 0; i < prompts.size(); i++) {
        rows.texts[i].no_speech_prob = probability_of(
            logits.subspan((prompts.size() + i) * n_vocab, n_vocab), config_.ids.no_speech);
    }
    rows.pick(logits, search, feed);
    while (!rows.all_done()) {
        TRY_SET(logits, feed_step(rows.next, feed));
        rows.pick(logits, search, feed);
    }
    for (WindowText& text : rows.texts) {
        text.avg_logprob = mean_logprob(text.sum_logprob, text.tokens.size());
        timings.n_tokens += static_cast<int>(text.tokens.size());
    }
    return std::move(rows.texts);
}

Expected<std::vector<std::vector<float>>> WindowDecoder::languages(int n_windows) {
    rows_ = {0, n_windows};
    StepFeed feed(n_windows);
    std::vector<Prompt> prompts(static_cast<size_t>(n_windows), Prompt{{config_.ids.sot}, 0});
    TRY_SET(std::span<float> logits, feed_prompts(prompts, feed));
    std::vector<std::vector<float>> all;
    for (size_t i = 0; i < prompts.size(); i++) {
        std::vector<float> scores;
        for (int id : config_.ids.languages) {
            scores.push_back(
                logits[i * static_cast<size_t>(config_.net.n_vocab) + static_cast<size_t>(id)]);
        }
        float sum = log_sum_exp(scores);
        for (float& score : scores) score = std::exp(score - sum);
        all.push_back(std::move(scores));
    }
    return all;
}

}  // namespace transcribe::whisper
