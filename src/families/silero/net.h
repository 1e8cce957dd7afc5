// Silero VAD's network (silero-vad 6.2, silero_vad/tinygrad_model.py): magnitudes of a short-time
// Fourier transform (chunks.h), four convolutions, one LSTM cell, a head.
//
// All but the cell sees one chunk by itself, so that many chunks are one graph; the cell goes chunk
// by chunk, on the host (lstm.h). A chunk has four frames, which the convolutions take down to one:
// so few that each of them is one matrix over all frames, made at load.
#pragma once

#include "nn/ops.h"
#include "tensor/weights.h"

namespace transcribe::silero {

struct NetConfig {
    static constexpr int n_frames = 4;  // of a chunk
    int n_fft = 0;                      // samples of a frame
    int channels[4]{};                  // outputs of the convolutions
    int hidden = 0;                     // width of the cell
    // The rest follows. A chunk is preceded by the end of the one before and followed by its own
    // end, mirrored; together that is four frames with a hop of half of one.
    int hop() const { return n_fft / 2; }
    int n_chunk() const { return 2 * n_fft; }
    int n_context() const { return n_fft / 4; }
    int n_mirror() const { return n_fft / 4; }
    int n_bins() const { return n_fft / 2 + 1; }
    // As frames lie in memory, zeros behind: rows of whole vectors multiply much faster.
    int n_padded_bins() const { return (n_bins() + 3) / 4 * 4; }
    int n_input() const { return n_frames * n_padded_bins(); }
};

// A convolution over few frames, kernel 3, with a frame of zeros at both ends, and its ReLU.
struct SmallConv {
    struct Frames {
        int n_in, n_out, stride;
    };
    struct Channels {
        int n_in, n_padded, n_out;  // padded: as they lie in x, zeros behind
    };
    Weight w, b;  // [n_padded * frames in, n_out * frames out], [n_out * frames out]

    void bind(Scope s, const Frames& frames, const Channels& channels);
    // x [n_padded * frames in, B] -> [n_out * frames out, B]
    Tensor operator()(Tensor x) const { return relu(product(w, x) + b); }
};

struct Net {
    SmallConv conv[4];
    Weight gates, gates_bias;  // [d, 4 * hidden], [4 * hidden]: the cell's, from its input

    void bind(Scope s, const NetConfig& c);
    // power [n_input, B] -> [4 * hidden, B]: what each chunk brings to the cell's gates
    Tensor operator()(Tensor power) const;
};

}  // namespace transcribe::silero
