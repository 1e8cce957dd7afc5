// Log-mel features: samples in, [n_mels, n_frames] out.
//
// MelSpec says how a family wants them. Mel holds what is computed once: window, filters, transform
// plan; it is immutable and shared by sessions. ClipMel (audio/clip_mel.h) is NeMo's way of taking
// a whole clip. WhisperMel reads a whole recording the way openai-whisper does (whisper/audio.py,
// log_mel_spectrogram): 30 s of zeros appended, reflect padding of 200 samples at both ends, power
// spectrum, mel, log10, and a floor at (maximum of the WHOLE recording) - 8.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "audio/fft.h"
#include "base/audio_source.h"

namespace transcribe {

struct MelSpec {
    int n_mels = 80;
    int n_fft = 400;  // = window length; even, half of it a product of 2s and 5s
    int hop = 160;
    std::vector<float> filters;  // [n_fft/2 + 1, n_mels]: bins fastest
    std::vector<float> window;   // [n_fft]
    // log10(max(power, 1e-10)), or ln(power + 2^-24) as NeMo has it.
    enum class Level { log10_floored, ln_guarded } level = Level::log10_floored;
    // What stands before the first sample and behind the last.
    enum class Padding { mirror, zeros } padding = Padding::mirror;
    float pre_emphasis = 0;  // this share of the sample before is taken off
};

class Mel {
  public:
    explicit Mel(MelSpec spec);
    const MelSpec& spec() const { return spec_; }
    // Frame i is samples [i * hop, i * hop + n_fft), padded by the caller; out [n_mels, n] is the
    // level of the power in each mel band. A frame's numbers do not depend on its neighbours.
    // Thread safe.
    void frames(const float* samples, int n, float* out) const;

  private:
    struct Band {  // the bins where a filter is not zero
        int begin, end;
    };
    // One to four frames.
    void group(const float* samples, int n, float* out, ComplexLanes* work) const;

    MelSpec spec_;
    PowerSpectrum spectrum_;
    std::vector<Band> bands_;  // [n_mels]
};

// The mel of one recording, window by window. scan() reads the recording to its end, for its length
// and its maximum. The frames of a short recording (n_kept_max) are kept; a longer one is read a
// second time as windows are asked for, and `n_back` frames behind the present window are held, so
// that memory does not grow with length.
class WhisperMel {
  public:
    static constexpr i64 n_kept_max_default = 10 * 60 * 100;  // ten minutes: 19 MB for 80 mels
    WhisperMel(const Mel& mel, AudioSource& source, i64 n_back,
               i64 n_kept_max = n_kept_max_default);
    ~WhisperMel();
    Status scan();  // once, before the rest
    i64 n_samples() const;
    i64 n_frames() const;  // n_samples / hop: frames with content
    // Frames [t0, t0 + n) normalized, (max(x, maximum - 8) + 4) / 4, into out [n_mels, n]: mels
    // fastest. Frames past n_frames() are 0, as the reference pads a window, or what silence gives
    // there, as it does before it pads. Going back by up to n_back is free; further back costs a
    // rewind when the frames are not kept.
    enum class Behind { zeros, silence };
    Status window(i64 t0, int n, std::span<float> out, Behind behind = Behind::zeros);
    // True when no frame of [t0, t0 + n) holds a sound as loud as faint speech: there is nothing to
    // decode. Digital silence, the noise of a quiet room (-78 dBFS RMS) and mains hum are silent.
    Expected<bool> silent(i64 t0, int n);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace transcribe
