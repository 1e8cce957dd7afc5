// The weights of an ONNX file. Its graph is not looked at, but for one thing: the tensors of an
// LSTM have numbers for names, so that its node has to tell which is which.
#pragma once

#include <string>

#include "convert/checkpoint.h"

namespace transcribe {

// Adds the initializers of the file, which are F32 and lie in it; those of its LSTM are called
// lstm.W, lstm.R and lstm.B, as ONNX names the inputs of that operator. Errors: not_found, io,
// bad_model.
Status read_onnx(const std::string& path, Checkpoint& into);

}  // namespace transcribe
