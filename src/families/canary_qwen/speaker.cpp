#include "families/canary_qwen/speaker.h"

#include <algorithm>

#include "base/check.h"
#include "base/stopwatch.h"
#include "base/trace.h"
#include "decode/search.h"

namespace transcribe::canary_qwen {

namespace {

class NoRule : public LogitRule {
    void apply(std::span<const int>, std::span<float>) const override {}
};

using Searches = std::vector<std::unique_ptr<Search>>;

bool any_goes_on(const Searches& searches) {
    return std::ranges::any_of(searches, [](const auto& search) { return !search->done(); });
}

// scores [V, B]: the next token of each row that has not ended.
void take(Searches& searches, std::span<float> scores, LmSession& session) {
    const size_t n_vocab = scores.size() / searches.size();
    for (size_t row = 0; row < searches.size(); row++) {
        if (searches[row]->done()) continue;
        searches[row]->take(scores.subspan(row * n_vocab, n_vocab));
        if (searches[row]->done()) session.end(static_cast<int>(row));
    }
}

Said said_of(const Search& search, int end_token) {
    Hypothesis text = search.texts().at(0);
    Said said{std::move(text.tokens), std::move(text.logprobs), text.sum_logprob, {}};
    if (!search.done()) return said;
    if (text.looping) {
        said.tokens.resize(n_without_loop(said.tokens));
        said.logprobs.resize(said.tokens.size());
        said.end = Said::End::in_a_loop;
    } else {
        const bool ended = search.next(0) == end_token;
        said.end = ended ? Said::End::by_itself : Said::End::at_the_limit;
    }
    return said;
}

}  // namespace

Status Speaker::speak(std::span<const ToSay> what, std::span<Said> said) {
    CHECK(!what.empty() && what.size() == said.size());
    const NoRule rule;
    Searches searches;
    std::vector<LmPrompt> prompts;
    for (const ToSay& each : what) {
        prompts.push_back(each.prompt);
        SearchSpec spec;
        spec.eot = end_token_;
        spec.n_tokens_max = static_cast<size_t>(each.n_tokens_max);
        spec.ends_loops = true;
        searches.push_back(make_search(spec, rule));
    }
    auto run = [&]() -> Status {
        {
            Span span("prefill");
            Stopwatch watch(prefill_ms);
            TRY_SET(auto scores, session_.prefill(prompts));
            take(searches, scores, session_);
        }
        while (any_goes_on(searches)) {
            Span span("step");
            Stopwatch watch(step_ms);
            n_steps++;
            std::vector<int> next;
            for (const auto& search : searches) next.push_back(search->next(0));
            TRY_SET(auto scores, session_.step(next));
            take(searches, scores, session_);
        }
        return {};
    };
    const Status status = run();
    for (size_t row = 0; row < said.size(); row++) said[row] = said_of(*searches[row], end_token_);
    return status;
}

}  // namespace transcribe::canary_qwen
