// What the twin tests of Whisper share: a loaded tiny model and a machine to run it on.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "decode/quality.h"
#include "families/whisper/decoder.h"
#include "families/whisper/ladder.h"
#include "families/whisper/model.h"
#include "watch.h"

namespace transcribe::test {

inline std::shared_ptr<const whisper::WhisperModel> load_whisper(const std::string& path) {
    auto file = Gguf::open(path);
    if (!file) ADD_FAILURE() << file.error().what;
    Loader loader(*file, Device::cpu());
    auto model = whisper::WhisperModel::load(loader);
    if (!model) ADD_FAILURE() << model.error().what;
    return *model;
}

// A session's half that computes, without the long-form loop.
struct Bench {
    std::unique_ptr<Compute> compute;
    std::unique_ptr<Compute::Lease> lease;
    std::unique_ptr<whisper::WindowDecoder> decoder;
    const whisper::WhisperModel& model;

    Bench(const whisper::WhisperModel& of, int n_windows) : model(of) {
        compute = *Compute::make(Device::cpu(), *Lanes::make(1, 2));
        lease = std::make_unique<Compute::Lease>(*compute);
        decoder = *whisper::WindowDecoder::make(*compute, model.net(), model.config());
        EXPECT_TRUE(decoder->reserve(n_windows, 1));
    }

    // Greedy texts of the windows on the first seats, side by side.
    std::vector<whisper::WindowText> decode(const std::vector<whisper::Prompt>& prompts,
                                            const LogitRule& rule, int n_rows = 1) {
        EXPECT_TRUE(decoder->reserve(decoder->n_seats(), n_rows));
        std::vector<std::unique_ptr<Search>> searches;
        std::vector<whisper::WindowText> texts;
        for (const whisper::Prompt& prompt : prompts) {
            SearchSpec spec;
            spec.eot = model.config().ids.eot;
            spec.n_tokens_max = decoder->n_tokens_max(prompt);
            spec.n_rows = n_rows;
            int seat = static_cast<int>(searches.size());
            searches.push_back(make_search(spec, rule));
            auto no_speech = decoder->start(seat, prompt, *searches.back());
            if (!no_speech) ADD_FAILURE() << no_speech.error().what;
            texts.emplace_back().no_speech_prob = *no_speech;
        }
        auto busy = [](const auto& search) { return !search->done(); };
        while (std::any_of(searches.begin(), searches.end(), busy)) EXPECT_TRUE(decoder->step());
        for (size_t i = 0; i < texts.size(); i++) {
            Hypothesis best = searches[i]->texts().at(0);
            texts[i].avg_logprob = mean_logprob(best.sum_logprob, best.tokens.size());
            texts[i].tokens = std::move(best.tokens);
        }
        return texts;
    }
};

inline WhisperRules rules_of(const whisper::Config& c, bool timestamps) {
    return WhisperRules(
        c.ids,
        {.suppress = c.suppress, .suppress_at_start = c.begin_suppress, .timestamps = timestamps});
}

}  // namespace transcribe::test
