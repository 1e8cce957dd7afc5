// Log-mel features: samples in, [n_mels, n_frames] out.
//
// MelSpec says how a family wants them (Whisper here; NeMo's mode joins with Canary-Qwen). Mel holds
// what is computed once: window, filters, transform plan; it is immutable and shared by sessions.
// WhisperMel reads a whole recording the way openai-whisper does (whisper/audio.py,
// log_mel_spectrogram): 30 s of zeros appended, reflect padding of 200 samples at both ends, power
// spectrum, mel, log10, and a floor at (maximum of the WHOLE recording) - 8.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/audio_source.h"

namespace transcribe {

struct MelSpec {
    int n_mels = 80;
    int n_fft = 400;  // = window length
    int hop = 160;
    std::vector<float> filters;  // [n_fft/2 + 1, n_mels]: bins fastest
    std::vector<float> window;   // [n_fft]
};

class Mel {
  public:
    explicit Mel(MelSpec spec);
    ~Mel();
    const MelSpec& spec() const { return spec_; }
    // One frame: n_fft samples (already padded by the caller) -> n_mels values of
    // log10(max(power mel, 1e-10)). Thread safe.
    void frame(const float* samples, float* out) const;

  private:
    MelSpec spec_;
    struct Plan;
    std::unique_ptr<Plan> plan_;
};

// The mel of one recording, window by window. The first call of scan() reads the recording to its
// end to learn its length and its maximum. Frames of the first minutes are kept (bounded memory); a
// longer recording is read a second time, so that memory does not grow with length.
class WhisperMel {
  public:
    WhisperMel(const Mel& mel, AudioSource& source);
    ~WhisperMel();
    Status scan();
    i64 n_samples() const;
    i64 n_frames() const;  // n_samples / hop: frames with content
    // Frames [t0, t0 + n) normalized, (max(x, maximum - 8) + 4) / 4, into out [n_mels, n]: mels
    // fastest. Frames past n_frames() are 0, as the reference pads a window. Windows are asked in
    // any order, but going back costs a rewind.
    Status window(i64 t0, int n, std::span<float> out);
    // True when every sample that frames [t0, t0 + n) cover is digital silence or close to it
    // (peak below -66 dBFS): there is nothing to decode.
    Expected<bool> silent(i64 t0, int n);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace transcribe
