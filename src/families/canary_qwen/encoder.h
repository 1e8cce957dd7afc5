// From sound to what the language model reads: log mel, FastConformer, projection. The reference is
// NeMo's AudioPerceptionModule.
#pragma once

#include <span>
#include <vector>

#include "base/error.h"
#include "families/canary_qwen/audio_config.h"
#include "nn/linear.h"
#include "tensor/compute.h"

namespace transcribe::canary_qwen {

struct EncoderNet {
    Conformer conformer;
    Linear proj;

    // `enc`: the scope "enc".
    void bind(Scope enc, const AudioConfig& c);
    // -> [d_out, T', B]
    Tensor operator()(const FrameInputs& in) const;
};

// One clip as rows of the language model's input.
struct AudioEmbeddings {
    i64 n_frames = 0;
    std::vector<float> values;  // [d_out, n_frames]
};

// A session's half that hears. What it refers to must outlive it.
class AudioEncoder {
  public:
    AudioEncoder(Compute& compute, const EncoderNet& net, const AudioConfig& config, const Mel& mel)
        : compute_(compute), net_(net), config_(config), mel_(mel) {}

    // Clips of mono samples at 16 kHz, any number and any lengths, in padded batches of similar
    // lengths; a clip's numbers do not depend on the others. A clip under 10 ms has no frames.
    // Errors: aborted (within one node), out_of_memory, backend.
    Expected<std::vector<AudioEmbeddings>> encode(std::span<const std::span<const float>> clips);

  private:
    Expected<std::vector<AudioEmbeddings>> encode_batch(const FrameFeed& feed);

    Compute& compute_;
    const EncoderNet& net_;
    const AudioConfig& config_;
    const Mel& mel_;
};

}  // namespace transcribe::canary_qwen
