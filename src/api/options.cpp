#include "api/options.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "asr/types.h"

namespace transcribe::api {

namespace {

constexpr size_t n_text_bytes_max = 65536;
// Louder than this is no recording: 16-bit numbers that nobody divided, or garbage.
constexpr float sample_max = 100;

// Gathers what is out of its limits.
class Limits {
  public:
    void within(const char* name, double value, double lo, double hi) {
        if (value >= lo && value <= hi) return;  // not where it is no number
        problems_.add(fmt::format("{} is {:g}, not within {:g} to {:g}", name, value, lo, hi));
    }
    std::string text(const char* name, const char* given) {
        if (!given) return "";
        size_t n = strnlen(given, n_text_bytes_max + 1);
        if (n > n_text_bytes_max) {
            problems_.add(fmt::format("{} is longer than {} bytes", name, n_text_bytes_max));
        }
        return {given, n};
    }
    void done() const {
        if (Status status = problems_.done(Code::invalid_argument, "the options"); !status) {
            throw refusal(status.error());
        }
    }

  private:
    Problems problems_;
};

// The number that a caller in C left in an enum: any, where C++ knows only those of its names.
template <class Enum>
int number_of(const Enum& given) {
    static_assert(sizeof given == sizeof(int));
    int number = 0;
    std::memcpy(&number, &given, sizeof number);
    return number;
}

void read_texts(const transcribe_run_options& given, Limits& limits, Options& options) {
    options.language = limits.text("language", given.language);
    options.initial_prompt = limits.text("initial_prompt", given.initial_prompt);
    options.hotwords = limits.text("hotwords", given.hotwords);
    options.prefix = limits.text("prefix", given.prefix);
    options.carry_initial_prompt = given.carry_initial_prompt;
    limits.within("condition_on_previous_text", given.condition_on_previous_text, -1, 1);
    if (given.condition_on_previous_text >= 0) {
        options.condition_on_previous_text = given.condition_on_previous_text == 1;
    }
}

void read_vad(const transcribe_run_options& given, Limits& limits, Options& options) {
    constexpr double ms_max = 3600000;
    limits.within("vad_threshold", given.vad_threshold, 0, 1);
    limits.within("vad_min_speech_ms", given.vad_min_speech_ms, 0, ms_max);
    limits.within("vad_min_silence_ms", given.vad_min_silence_ms, 0, ms_max);
    limits.within("vad_speech_pad_ms", given.vad_speech_pad_ms, 0, ms_max);
    if (!given.vad) return;
    options.vad = VadOptions{.threshold = given.vad_threshold,
                             .min_speech_ms = given.vad_min_speech_ms,
                             .min_silence_ms = given.vad_min_silence_ms,
                             .speech_pad_ms = given.vad_speech_pad_ms};
}

void read_search(const transcribe_run_options& given, Limits& limits, Options& options) {
    limits.within("beam_size", given.beam_size, 0, 64);
    limits.within("best_of", given.best_of, 1, 64);
    limits.within("patience", given.patience, 0.01, 100);
    limits.within("temperature", given.temperature, 0, 2);
    if (given.temperature_increment != 0) {  // a ladder of countless rungs never ends
        limits.within("temperature_increment", given.temperature_increment, 0.01, 2);
    }
    limits.within("compression_ratio_threshold", given.compression_ratio_threshold, 0, 1e6);
    limits.within("logprob_threshold", given.logprob_threshold, -1e6, 1e6);
    limits.within("no_speech_threshold", given.no_speech_threshold, 0, 1);
    limits.within("max_tokens", given.max_tokens, 0, 1e6);
    options.beam_size = given.beam_size;
    options.best_of = given.best_of;
    options.patience = given.patience;
    options.temperature = given.temperature;
    options.temperature_increment = given.temperature_increment;
    options.compression_ratio_threshold = given.compression_ratio_threshold;
    options.logprob_threshold = given.logprob_threshold;
    options.no_speech_threshold = given.no_speech_threshold;
    options.max_tokens = given.max_tokens;
    options.seed = given.seed;
}

// What is given; without anything all zeros, which are the defaults of these.
template <class T>
T given_or_zeros(const T* given, const char* name) {
    T options{};
    options.size = sizeof options;
    if (!given) return options;
    need_size(given->size, sizeof options, name);
    return *given;
}

}  // namespace

transcribe_find_options options_or_defaults(const transcribe_find_options* given) {
    return given_or_zeros(given, "transcribe_find_options");
}

transcribe_model_options options_or_defaults(const transcribe_model_options* given) {
    return given_or_zeros(given, "transcribe_model_options");
}

transcribe_session_options options_or_defaults(const transcribe_session_options* given) {
    return given_or_zeros(given, "transcribe_session_options");
}

transcribe_run_options options_or_defaults(const transcribe_run_options* given) {
    const Options defaults;
    const VadOptions vad;
    transcribe_run_options options{};
    options.size = sizeof options;
    options.timestamps = TRANSCRIBE_TIMESTAMPS_SEGMENT;
    options.condition_on_previous_text = -1;
    options.vad_threshold = vad.threshold;
    options.vad_min_speech_ms = vad.min_speech_ms;
    options.vad_min_silence_ms = vad.min_silence_ms;
    options.vad_speech_pad_ms = vad.speech_pad_ms;
    options.beam_size = defaults.beam_size;
    options.best_of = defaults.best_of;
    options.patience = defaults.patience;
    options.temperature = defaults.temperature;
    options.temperature_increment = defaults.temperature_increment;
    options.compression_ratio_threshold = defaults.compression_ratio_threshold;
    options.logprob_threshold = defaults.logprob_threshold;
    options.no_speech_threshold = defaults.no_speech_threshold;
    if (!given) return options;
    need_size(given->size, sizeof options, "transcribe_run_options");
    return *given;
}

Options run_options(const transcribe_run_options& given) {
    Limits limits;
    Options options;
    const int task = number_of(given.task);
    const int timestamps = number_of(given.timestamps);
    limits.within("task", task, TRANSCRIBE_TASK_TRANSCRIBE, TRANSCRIBE_TASK_TRANSLATE);
    limits.within("timestamps", timestamps, TRANSCRIBE_TIMESTAMPS_NONE, TRANSCRIBE_TIMESTAMPS_WORD);
    options.task = task == TRANSCRIBE_TASK_TRANSLATE ? Task::translate : Task::transcribe;
    options.timestamps = timestamps != TRANSCRIBE_TIMESTAMPS_NONE;
    options.word_timestamps = timestamps == TRANSCRIBE_TIMESTAMPS_WORD;
    read_texts(given, limits, options);
    read_vad(given, limits, options);
    read_search(given, limits, options);
    limits.done();
    return options;
}

OpenOptions open_options(const transcribe_model_options& given) {
    OpenOptions options;
    Limits limits;
    if (given.device) options.device = limits.text("device", given.device);
    limits.done();
    if (!given.precision) return options;
    auto precision = precision_named(given.precision);
    need(precision.has_value(), "precision is none of auto, f32, bf16 and int8");
    options.precision = *precision;
    return options;
}

void check(const transcribe_session_options& given) {
    Limits limits;
    limits.within("n_threads", given.n_threads, 0, 512);
    limits.within("batch_size", given.batch_size, 0, 256);
    limits.text("vad_model", given.vad_model);
    if (given.n_ctx != 0) limits.within("n_ctx", given.n_ctx, 64, 1 << 20);
    limits.done();
}

std::span<const float> samples(const float* pcm, size_t n_samples) {
    need(pcm || n_samples == 0, "pcm is null, and n_samples is not 0");
    if (n_samples > TRANSCRIBE_SAMPLES_MAX) {
        throw Refusal{TRANSCRIBE_INPUT_TOO_LONG,
                      fmt::format("{} samples are more than one call takes ({}, a day); give it in "
                                  "parts, or as a file",
                                  n_samples, TRANSCRIBE_SAMPLES_MAX)};
    }
    for (size_t i = 0; i < n_samples; i++) {
        if (std::fabs(pcm[i]) <= sample_max) continue;  // not where it is no number
        throw Refusal{TRANSCRIBE_INVALID_ARG,
                      fmt::format("sample {} is {:g}; samples are numbers within [-1, 1] (divide "
                                  "16-bit ones by 32768)",
                                  i, pcm[i])};
    }
    return {pcm, n_samples};
}

}  // namespace transcribe::api
