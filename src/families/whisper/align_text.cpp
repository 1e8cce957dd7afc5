#include "families/whisper/align_text.h"

#include <algorithm>

#include "base/check.h"
#include "base/trace.h"
#include "decode/align.h"
#include "decode/pick.h"

namespace transcribe::whisper {

namespace {

// logits [V, 1 + n]: of the last token, then those that text token 0 ... n - 1 was picked from.
// Among text tokens only: what else could have come is no word.
std::vector<float> probabilities_of(std::span<const float> logits, const std::vector<int>& text,
                                    const Config& config) {
    auto n_vocab = static_cast<size_t>(config.net.n_vocab);
    std::vector<float> out;
    for (size_t i = 0; i < text.size(); i++) {
        std::span<const float> own = logits.subspan((1 + i) * n_vocab, n_vocab);
        out.push_back(probability_of(own.first(static_cast<size_t>(config.ids.eot)), text[i]));
    }
    return out;
}

}  // namespace

Expected<TextAlignment> align_text(Compute& compute, const Net& net, const Config& config,
                                   const Decoder::Caches& caches, const TextToAlign& what) {
    Span span("align");
    std::vector<int> tokens = what.before;
    tokens.insert(tokens.end(), what.text.begin(), what.text.end());
    tokens.push_back(config.ids.eot);
    auto n_tokens = static_cast<int>(tokens.size()), n_text = static_cast<int>(what.text.size());
    int from = static_cast<int>(what.before.size()) - 1;  // what reads it says the first text token
    CHECK(from >= 0 && n_text > 0 && n_tokens <= config.net.n_text_ctx);

    Graph& g = compute.begin();
    StepInputs in = StepInputs::declare(g, {n_tokens, 1, config.net.n_text_ctx, 1 + n_text});
    i64 n_positions = std::clamp<i64>(what.n_frames / 2, 1, config.net.n_audio_ctx);
    Decoder::HeadWatch watch{config.alignment_heads, n_positions, {}};
    Tensor logits = g.keep(net.dec(in, caches, &watch));
    StepFeed feed(1);
    feed.set(in.shape, {&tokens, 1}, config.ids.eot);
    for (int i = 0; i < n_text; i++) feed.pick(0, from + i);
    TRY(feed.run(compute, in));

    TextAlignment out;
    out.probabilities = probabilities_of(compute.values(logits), what.text, config);
    std::vector<float> scores;
    for (Tensor head : watch.scores) {
        std::span<float> own = compute.values(head);
        scores.insert(scores.end(), own.begin(), own.end());
    }
    ScoreShape shape{static_cast<int>(n_positions), n_tokens,
                     static_cast<int>(watch.scores.size())};
    out.frames = align_tokens(std::move(scores), shape, {from, n_text + 1});
    return out;
}

}  // namespace transcribe::whisper
