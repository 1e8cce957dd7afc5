#include "families/canary_qwen/prompt.h"

#include <fmt/format.h>

#include "base/text.h"

namespace transcribe::canary_qwen {

namespace {

constexpr std::string_view locator = "<|audioplaceholder|>";

void append(std::vector<int>& ids, const std::vector<int>& more) {
    ids.insert(ids.end(), more.begin(), more.end());
}

// The user has spoken; what follows is the model's.
void end_turn(std::vector<int>& ids, const Config& c, const Tokenizer& tokenizer) {
    ids.push_back(c.im_end);
    append(ids, tokenizer.encode("\n"));
    ids.push_back(c.im_start);
    append(ids, tokenizer.encode("assistant\n"));
}

}  // namespace

LmPrompt Prompt::with(std::span<const float> audio, i64 n_frames) const {
    LmPrompt prompt{before, before.size(), audio};
    prompt.ids.insert(prompt.ids.end(), static_cast<size_t>(n_frames), 0);
    append(prompt.ids, after);
    return prompt;
}

std::vector<int> make_chat(const Config& c, const Tokenizer& tokenizer, std::string_view text) {
    std::vector<int> ids{c.im_start};
    append(ids, tokenizer.encode(fmt::format("user\n{}", text)));
    end_turn(ids, c, tokenizer);
    return ids;
}

// The locator cuts the user's turn in two, each of which becomes tokens for itself.
Prompt make_prompt(const Config& c, const Tokenizer& tokenizer, std::string_view request) {
    std::string text(trim(request).empty() ? trained_request : request);
    std::string behind;
    if (size_t at = text.find(locator); at != std::string::npos) {
        behind = text.substr(at + locator.size());
        text.resize(at);
    } else if (!text.ends_with(' ')) {
        text += ' ';
    }
    Prompt prompt{{c.im_start}, tokenizer.encode(behind)};
    append(prompt.before, tokenizer.encode("user\n" + text));
    end_turn(prompt.after, c, tokenizer);
    return prompt;
}

}  // namespace transcribe::canary_qwen
