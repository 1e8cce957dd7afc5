// The part of the network that goes chunk by chunk: one LSTM cell and a head, plain loops on the
// host. A step is a product of 128 by 512, too small for a graph.
#pragma once

#include <span>
#include <vector>

namespace transcribe::silero {

struct LstmWeights {
    size_t hidden = 0;
    std::vector<float> recurrent;  // in blocks of gates, for each input the weights of a block
    std::vector<float> head;       // [hidden]
    float head_bias = 0;

    // `stored` [hidden, 4 * hidden] as the file has it: for each gate the weights of its inputs.
    void set_recurrent(std::span<const float> stored);
};

// One run over a recording.
class Lstm {
  public:
    explicit Lstm(const LstmWeights& weights);
    // gates [4 * hidden]: what the chunk brings; in, out, forget and cell, as ONNX orders them.
    // The probability of speech.
    float step(std::span<const float> gates);

  private:
    void add_recurrent();

    const LstmWeights& w_;
    std::vector<float> hidden_, cell_, gates_;
};

}  // namespace transcribe::silero
