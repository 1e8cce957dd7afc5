// Options of the C interface: their defaults, their limits, and what the engine makes of them.
#pragma once

#include <span>
#include <string>

#include "api/edge.h"
#include "asr/types.h"
#include "engine/open.h"

namespace transcribe::api {

// A caller's struct, or the defaults where it is null. Throw TRANSCRIBE_BAD_STRUCT_SIZE.
transcribe_find_options options_or_defaults(const transcribe_find_options* given);
transcribe_model_options options_or_defaults(const transcribe_model_options* given);
transcribe_session_options options_or_defaults(const transcribe_session_options* given);
transcribe_run_options options_or_defaults(const transcribe_run_options* given);

// Without callbacks. Throws TRANSCRIBE_INVALID_ARG, naming every field that is out of its limits.
Options run_options(const transcribe_run_options& given);
// Throws the same.
OpenOptions open_options(const transcribe_model_options& given);
// The same of a session's numbers.
void check(const transcribe_session_options& given);

// A caller's samples. Throws TRANSCRIBE_INVALID_ARG (null, a number that is not finite or no
// sample) and TRANSCRIBE_INPUT_TOO_LONG (more than TRANSCRIBE_SAMPLES_MAX).
std::span<const float> samples(const float* pcm, size_t n_samples);

}  // namespace transcribe::api
