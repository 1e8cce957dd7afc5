// The heads of cross attention that follow the speech in OpenAI's own Whisper models, for
// checkpoints that do not name theirs. Fine-tunes keep them; they are known by their sizes.
#pragma once

#include <vector>

namespace transcribe {

struct WhisperConfig;

// Pairs of layer and head, flat; empty for sizes that OpenAI did not publish.
std::vector<int> openai_alignment_heads(const WhisperConfig& config);

}  // namespace transcribe
