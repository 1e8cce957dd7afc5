// What a voice detector gives, and the interface that its families implement. It is no recognizer:
// it says when somebody speaks, not what.
#pragma once

#include <memory>
#include <vector>

#include "asr/types.h"

namespace transcribe {

class Compute;  // tensor/compute.h
class Loader;   // tensor/weights.h

// How likely it is that somebody speaks, chunk by chunk, over a whole recording.
struct SpeechTrack {
    std::vector<float> probabilities;
    i64 chunk_ms = 0;   // of each; the last one may hang over the end
    i64 n_samples = 0;  // of the recording
    i64 duration_ms() const { return (n_samples * 1000 + sample_rate - 1) / sample_rate; }
};

// Immutable and shared by any number of sessions at the same time.
class VoiceDetector {
  public:
    virtual ~VoiceDetector() = default;
    virtual const ModelInfo& info() const = 0;
    // Listens from where the recording stands to its end, in memory that does not grow with it
    // but for the track. `compute` is the caller's own, on the CPU, with a lease taken. Errors:
    // those of the recording, aborted, out_of_memory, backend.
    virtual Expected<SpeechTrack> listen(AudioSource&, Compute&) const = 0;
};

struct VoiceFamily {
    const char* arch;  // general.architecture
    Expected<std::shared_ptr<const VoiceDetector>> (*load)(Loader&);
};

}  // namespace transcribe
