// The half of Canary-Qwen that hears: sizes of front end, encoder and projection, as a model file
// states them (keys stt.frontend.*, stt.canary_qwen.encoder.*, .perception.*).
#pragma once

#include "audio/mel.h"
#include "blocks/conformer.h"
#include "tensor/weights.h"

namespace transcribe::canary_qwen {

struct AudioConfig {
    MelSpec mel;  // filters and window come with the tensors
    ConformerSpec encoder;
    i64 d_out = 0;  // width of the language model
};

// `kv` at the root. Faults go to its Problems.
AudioConfig read_audio_config(KvReader kv);

// Filters and window of the file: the numbers that the model was trained with, rounded as they are.
// Faults go to the Problems of `weights`.
void read_mel_tables(Weights& weights, MelSpec& spec);

// Frames that the encoder makes of so many samples: 12.5 a second.
i64 n_audio_frames(const AudioConfig& c, i64 n_samples);

}  // namespace transcribe::canary_qwen
