#include "families/whisper/decoder.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/stopwatch.h"
#include "base/trace.h"
#include "decode/pick.h"

namespace transcribe::whisper {

namespace {

constexpr int n_slots_step = 256;

int round_up_slots(int n, int n_max) {
    return std::min((n + n_slots_step - 1) / n_slots_step * n_slots_step, n_max);
}

// Caches as exact as the weights they are read with.
Dtype cache_dtype(const Net& net) {
    return net.dec.embed.dtype() == Dtype::f32 ? Dtype::f32 : Dtype::f16;
}

KvCache::Sizes self_sizes(const Net& net, const NetConfig& c, int n_rows) {
    return {c.dec.n_layers, c.dec.d, c.n_text_ctx, n_rows, cache_dtype(net)};
}

// Steps of many windows read little else than this. In 8 bits it is as exact as the products that
// made it, where our own attention reads it.
KvCache::Sizes memory_sizes(const Compute& compute, const Net& net, const NetConfig& c,
                            int n_rows) {
    const bool whole_blocks = c.dec.d / c.dec.n_heads % block_elements(Dtype::q8_0) == 0;
    const bool in_8_bits = compute.rounding == Rounding::int8 && compute.flash && whole_blocks;
    return {c.dec.n_layers, c.dec.d, c.n_audio_ctx, n_rows,
            in_8_bits ? Dtype::q8_0 : cache_dtype(net)};
}

}  // namespace

WindowDecoder::WindowDecoder(Compute& compute, const Net& net, const Config& config, KvCache self,
                             KvCache memory)
    : compute_(compute),
      net_(net),
      config_(config),
      memory_(std::move(memory)),
      seats_(std::move(self), 1, memory_.sizes().n_rows) {}

Expected<std::unique_ptr<WindowDecoder>> WindowDecoder::make(Compute& compute, const Net& net,
                                                             const Config& c) {
    TRY_SET(auto self, KvCache::make(compute, self_sizes(net, c.net, 1)));
    TRY_SET(auto memory, KvCache::make(compute, memory_sizes(compute, net, c.net, 1)));
    return std::make_unique<WindowDecoder>(compute, net, c, std::move(self), std::move(memory));
}

Expected<KvCache> WindowDecoder::self_cache(int n_rows) const {
    return KvCache::make(compute_, self_sizes(net_, config_.net, n_rows));
}

Status WindowDecoder::reserve(int n_seats, int n_rows) {
    in_band_ = nullptr;
    seats_.searches.assign(seats_.searches.size(), nullptr);
    const bool more = n_seats > this->n_seats();
    if (more) {
        auto sizes = memory_sizes(compute_, net_, config_.net, n_seats);
        TRY_SET(memory_, KvCache::make(compute_, sizes));
    }
    if (!more && n_rows == seats_.n_group) return {};
    const int n = this->n_seats();
    TRY_SET(KvCache self, self_cache(n_rows * n));
    seats_ = Band(std::move(self), n_rows, n);
    return {};
}

// The cache holds n_text_ctx tokens, and one more is read from the last of them.
size_t WindowDecoder::n_tokens_max(const Prompt& prompt) const {
    CHECK(prompt.tokens.size() <= static_cast<size_t>(config_.net.n_text_ctx));
    return std::min(static_cast<size_t>(config_.n_tokens_max()),
                    static_cast<size_t>(config_.net.n_text_ctx) + 1 - prompt.tokens.size());
}

Status WindowDecoder::encode(const std::vector<float>& mel, int seat) {
    Span span("encode");
    Stopwatch watch(timings.encode);
    timings.n_windows++;
    in_band_ = nullptr;
    Graph& g = compute_.begin();
    g.rounding = compute_.rounding;
    Tensor x = g.input("mel", Dtype::f32, {config_.net.n_mels, config_.n_frames(), 1});
    net_.dec.remember(net_.enc(x), memory_, {seat, 1});
    return compute_.run({{x, mel}});
}

// The graph for rows of a band: from `first_row` on, with the memories of their seats.
void WindowDecoder::build(const Band& band, const StepShape& shape, int first_row) {
    Graph& g = compute_.begin();
    in_ = StepInputs::declare(g, shape);
    int n_seats = std::max(1, shape.n_rows / band.n_group);
    KvCache::Rows memory{band.seat_first + first_row / band.n_group, n_seats};
    logits_ = g.keep(net_.dec(in_, {band.self, {first_row, shape.n_rows}, memory_, memory}));
}

// -> logits [V, 2]: after the prompt, and at start-of-transcript
Expected<std::span<float>> WindowDecoder::read_prompt(Band& band, int at, const Prompt& prompt) {
    Span span("prompt");
    Stopwatch watch(timings.prefill);
    auto n = static_cast<int>(prompt.tokens.size());
    CHECK(n <= config_.net.n_text_ctx);
    int row = at * band.n_group;
    in_band_ = nullptr;
    build(band, {n, 1, round_up_slots(n, config_.net.n_text_ctx), 2}, row);
    StepFeed feed(1);
    feed.set(in_.shape, {&prompt.tokens, 1}, config_.ids.eot);
    feed.pick(0, prompt.sot_at);
    TRY(feed.run(compute_, in_));
    return compute_.values(logits_);
}

Expected<float> WindowDecoder::start(Band& band, int at, const Prompt& prompt, Search& search) {
    CHECK(search.n_rows() <= band.n_group);
    TRY_SET(std::span<float> logits, read_prompt(band, at, prompt));
    auto n_vocab = static_cast<size_t>(config_.net.n_vocab);
    float no_speech = probability_of(logits.subspan(n_vocab, n_vocab), config_.ids.no_speech);
    int row = at * band.n_group, n = static_cast<int>(prompt.tokens.size());
    for (int i = 0; i < search.n_rows(); i++) {
        if (i > 0) band.self.copy_row(row, row + i, n);
        band.feed.begin(row + i, n);
    }
    search.take(logits.first(n_vocab));
    band.searches[static_cast<size_t>(at)] = &search;
    follow(band, static_cast<size_t>(at));
    return no_speech;
}

// What a search decided is done in the caches.
void WindowDecoder::follow(Band& band, size_t at) {
    const Search& search = *band.searches[at];
    int first = static_cast<int>(at) * band.n_group;
    for (auto [from, to] : search.copies()) {
        band.self.copy_row(first + from, first + to, band.feed.held(first + from));
    }
    for (int i = 0; i < search.n_rows(); i++) {
        if (search.done() || search.ended(i)) band.feed.end(first + i);
    }
    if (search.done()) band.searches[at] = nullptr;
}

Status WindowDecoder::step(Band& band) {
    size_t n_searches = band.searches.size();
    while (n_searches > 0 && !band.searches[n_searches - 1]) n_searches--;
    if (n_searches == 0) return {};
    Span span("step");
    Stopwatch watch(timings.step);
    timings.n_steps++;
    int n_rows = static_cast<int>(n_searches) * band.n_group;
    int n_slots = round_up_slots(band.feed.longest() + 1, config_.net.n_text_ctx);
    if (in_band_ != &band || in_.shape.n_rows != n_rows || in_.shape.n_slots < n_slots) {
        build(band, {1, n_rows, n_slots, n_rows}, 0);
        in_band_ = &band;
    }
    std::vector<std::vector<int>> tokens(static_cast<size_t>(n_rows), {config_.ids.eot});
    for (size_t at = 0; at < n_searches; at++) {
        const Search* search = band.searches[at];
        for (int i = 0; search && i < search->n_rows(); i++) {
            tokens[at * static_cast<size_t>(band.n_group) + static_cast<size_t>(i)] = {
                search->next(i)};
        }
    }
    band.feed.set(in_.shape, tokens, config_.ids.eot);
    TRY(band.feed.run(compute_, in_));
    band.feed.advance();
    std::span<float> logits = compute_.values(logits_);
    auto n_vocab = static_cast<size_t>(config_.net.n_vocab);
    for (size_t at = 0; at < n_searches; at++) {
        Search* search = band.searches[at];
        if (!search) continue;
        size_t first = at * static_cast<size_t>(band.n_group) * n_vocab;
        search->take(logits.subspan(first, static_cast<size_t>(search->n_rows()) * n_vocab));
        follow(band, at);
    }
    return {};
}

Expected<float> WindowDecoder::start(int seat, const Prompt& prompt, Search& search) {
    return start(seats_, seat, prompt, search);
}

Status WindowDecoder::step() {
    return step(seats_);
}

void WindowDecoder::stop(int seat) {
    auto at = static_cast<size_t>(seat);
    seats_.searches[at] = nullptr;
    for (int i = 0; i < seats_.n_group; i++) seats_.feed.end(seat * seats_.n_group + i);
}

Status WindowDecoder::run_alone(int seat, const Prompt& prompt, Search& search) {
    if (!alone_ || alone_->n_group != search.n_rows()) {
        TRY_SET(KvCache self, self_cache(search.n_rows()));
        alone_.emplace(std::move(self), search.n_rows(), 1);
    }
    alone_->seat_first = seat;
    in_band_ = nullptr;
    TRY(start(*alone_, 0, prompt, search));
    while (!search.done()) TRY(step(*alone_));
    in_band_ = nullptr;
    return {};
}

Expected<std::vector<float>> WindowDecoder::languages(int seat) {
    TRY_SET(std::span<float> logits, read_prompt(seats_, seat, {{config_.ids.sot}, 0}));
    std::vector<float> scores;
    for (int id : config_.ids.languages) scores.push_back(logits[static_cast<size_t>(id)]);
    float sum = log_sum_exp(scores);
    for (float& score : scores) score = std::exp(score - sum);
    return scores;
}

Expected<TextAlignment> WindowDecoder::align(int seat, const TextToAlign& what) {
    Stopwatch watch(timings.align);
    in_band_ = nullptr;
    KvCache::Rows own{seat * seats_.n_group, 1};
    return align_text(compute_, net_, config_, {seats_.self, own, memory_, {seat, 1}}, what);
}

}  // namespace transcribe::whisper
