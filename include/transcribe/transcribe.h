// transcribe: speech to text on your own machine. The C interface of libtranscribe.
//
//     transcribe_model_load -> transcribe_session_create -> transcribe_run -> transcribe_result_...
//
// Handles are numbers that the library looks up, not addresses. A handle that is null, was freed,
// or is of another kind gives TRANSCRIBE_INVALID_ARG; objects may be freed in any order, since a
// session keeps its model alive, a stream its session, and a call what it works on.
//
// Structs begin with their size, so that a program and a library of different age understand each
// other: transcribe_X_init() fills in size and defaults of options; of structs that the library
// fills, the caller sets `size = sizeof(struct)` before.
//
// Errors. Every call gives a status, never a crash or an exception; where it is not TRANSCRIBE_OK,
// transcribe_last_error() says in a sentence what was wrong, with the numbers and the remedy. Where
// nothing else is said, an out-parameter is null or unchanged then. The library prints nothing.
//
// Threads. All functions may be called from any thread. A model is immutable and shared by any
// number of sessions; many sessions compute at the same time and give the same bytes as alone. One
// session or stream serves one call at a time: a second call gets TRANSCRIBE_INVALID_ARG.
//
// Text is UTF-8 with a zero at the end. Times are milliseconds from the start of a recording.
// Samples are 32-bit floats of one channel at 16 kHz within [-1, 1] (transcribe_resample makes
// them). A recording without samples, and silence, give an empty transcript.
#ifndef TRANSCRIBE_TRANSCRIBE_H
#define TRANSCRIBE_TRANSCRIBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define TRANSCRIBE_API
#else
#define TRANSCRIBE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct transcribe_model transcribe_model;
typedef struct transcribe_session transcribe_session;
typedef struct transcribe_stream transcribe_stream;
typedef struct transcribe_result transcribe_result;

// Also the status of each recording of a batch. Numbers do not change.
typedef enum transcribe_status {
    TRANSCRIBE_OK = 0,
    TRANSCRIBE_INVALID_ARG = 1,
    TRANSCRIBE_FILE_NOT_FOUND = 2,
    TRANSCRIBE_GGUF = 3,  // a model file that is damaged or foreign
    TRANSCRIBE_UNSUPPORTED_ARCH = 4,
    TRANSCRIBE_UNSUPPORTED_LANGUAGE = 5,
    TRANSCRIBE_UNSUPPORTED_TASK = 6,
    TRANSCRIBE_UNSUPPORTED_TIMESTAMPS = 7,
    TRANSCRIBE_OOM = 8,
    TRANSCRIBE_BACKEND = 9,   // the compute device failed
    TRANSCRIBE_ABORTED = 10,  // cancelled; what was decoded stays readable
    TRANSCRIBE_BAD_STRUCT_SIZE = 11,
    TRANSCRIBE_INPUT_TOO_LONG = 12,    // known before any compute
    TRANSCRIBE_OUTPUT_TRUNCATED = 13,  // no room for the end of the text; what there is stays
    TRANSCRIBE_BAD_AUDIO = 14,         // a file that is no recording, or cannot be decoded
    TRANSCRIBE_IO = 15,                // reading, writing or the network failed
    TRANSCRIBE_INTERNAL = 16,          // a fault of this library; the sentence names its place
} transcribe_status;

TRANSCRIBE_API const char* transcribe_version(void);                          // "0.1.0"
TRANSCRIBE_API const char* transcribe_status_name(transcribe_status status);  // "INVALID_ARG"
// Of the last call in this thread that was not TRANSCRIBE_OK, until the next such call.
TRANSCRIBE_API const char* transcribe_last_error(void);

// Done, from 0 to 1. `clip` is the index in a batch, else 0.
typedef void (*transcribe_progress_callback)(void* user, size_t clip, double fraction);

typedef enum transcribe_log_level {
    TRANSCRIBE_LOG_ERROR = 0,
    TRANSCRIBE_LOG_WARNING = 1,
    TRANSCRIBE_LOG_INFO = 2,
    TRANSCRIBE_LOG_DEBUG = 3,
} transcribe_log_level;
typedef void (*transcribe_log_callback)(void* user, transcribe_log_level level, const char* text);
// One for the whole process; null, as at first, for none. May be called in any thread, also by
// calls that began before this one.
TRANSCRIBE_API void transcribe_set_log_callback(transcribe_log_callback callback, void* user);

// --- Devices -------------------------------------------------------------------------------------

typedef struct transcribe_device_info {
    size_t size;
    const char* name;  // for transcribe_model_options::device
    const char* description;
    const char* kind;  // "cpu", "gpu", "integrated gpu", "accelerator"
    uint64_t free_bytes, total_bytes;
} transcribe_device_info;

TRANSCRIBE_API size_t transcribe_device_count(void);
// Its strings are valid until the next call of this function in this thread.
TRANSCRIBE_API transcribe_status transcribe_device_get_info(size_t index,
                                                            transcribe_device_info* info);

// --- Models --------------------------------------------------------------------------------------

typedef struct transcribe_find_options {
    size_t size;
    bool offline;                              // the user's cache only
    transcribe_progress_callback on_progress;  // of the file under way
    void* user;
} transcribe_find_options;

TRANSCRIBE_API transcribe_status transcribe_find_options_init(transcribe_find_options* options,
                                                              size_t size);
// The path of a model that `transcribe models` lists ("tiny.en"), fetched once into the user's
// cache; or the path itself of a file. The string is valid until the next call of this function in
// this thread. `options` may be null.
TRANSCRIBE_API transcribe_status transcribe_find_model(const char* name_or_path,
                                                       const transcribe_find_options* options,
                                                       const char** path);

typedef struct transcribe_model_options {
    size_t size;
    const char* device;  // "auto" (default: a GPU where there is one), "cpu", or a device's name
    // What is multiplied on the CPU: "f32", "bf16", "int8", or "auto" (default), which takes the
    // fastest that costs no accuracy.
    const char* precision;
    transcribe_progress_callback on_progress;
    void* user;
} transcribe_model_options;

typedef enum transcribe_timestamps {
    TRANSCRIBE_TIMESTAMPS_NONE = 0,
    TRANSCRIBE_TIMESTAMPS_SEGMENT = 1,
    TRANSCRIBE_TIMESTAMPS_WORD = 2,
} transcribe_timestamps;

// Strings are valid as long as the model, or a session of it.
typedef struct transcribe_model_info {
    size_t size;
    const char *family, *name, *variant, *license;
    const char* device;            // where its weights are
    const char* const* languages;  // codes: "en", "de"
    size_t n_languages;
    bool detects_language;
    bool translates;                   // into English
    bool streams;                      // transcribe_stream_open
    transcribe_timestamps timestamps;  // the finest
    int32_t sample_rate_hz;
    int64_t n_params;
    // What it hears at once with all its context; 0: any length. Longer recordings are cut in
    // pauses, each piece within this.
    int64_t max_audio_ms;
} transcribe_model_info;

TRANSCRIBE_API transcribe_status transcribe_model_options_init(transcribe_model_options* options,
                                                               size_t size);
// A GGUF file, or a .bin of whisper.cpp. The file is mapped: it must not be cut while the model
// lives. `options` may be null.
TRANSCRIBE_API transcribe_status transcribe_model_load(const char* path,
                                                       const transcribe_model_options* options,
                                                       transcribe_model** model);
// The bytes of such a file. They are copied, and may be freed when this returns.
TRANSCRIBE_API transcribe_status transcribe_model_load_from_memory(
    const void* bytes, size_t n_bytes, const transcribe_model_options* options,
    transcribe_model** model);
TRANSCRIBE_API transcribe_status transcribe_model_get_info(const transcribe_model* model,
                                                           transcribe_model_info* info);
// Null is allowed here and in the other free functions, and does nothing.
TRANSCRIBE_API transcribe_status transcribe_model_free(transcribe_model* model);

// --- Sessions ------------------------------------------------------------------------------------

typedef struct transcribe_session_options {
    size_t size;
    int32_t n_threads;  // 0 (default): as many as the process may use
    // Windows decoded at once; more than one cut recordings in pauses. 0 (default): as is best.
    int32_t batch_size;
    const char* vad_model;  // path of a voice detector, for transcribe_run_options::vad; or null
    // Tokens of sound and text that a language model may hold for each recording. 0 (default): as
    // many as it was made for.
    int32_t n_ctx;
} transcribe_session_options;

TRANSCRIBE_API transcribe_status
transcribe_session_options_init(transcribe_session_options* options, size_t size);
// `options` may be null.
TRANSCRIBE_API transcribe_status
transcribe_session_create(const transcribe_model* model, const transcribe_session_options* options,
                          transcribe_session** session);
// Ends the run under way, or the next one where none is: it gives TRANSCRIBE_ABORTED, and the
// session goes on being usable. From any thread, also from callbacks; not from a signal handler.
TRANSCRIBE_API transcribe_status transcribe_session_cancel(transcribe_session* session);

typedef struct transcribe_limits {
    size_t size;
    // Of a recording, or of a piece where recordings are cut in pauses; what is longer is
    // TRANSCRIBE_INPUT_TOO_LONG before any work. 0: any length.
    int64_t max_audio_ms;
    size_t cache_bytes_max;  // that keys and values of a whole batch can take
} transcribe_limits;

// With the context of this session.
TRANSCRIBE_API transcribe_status transcribe_session_get_limits(const transcribe_session* session,
                                                               transcribe_limits* limits);
TRANSCRIBE_API transcribe_status transcribe_session_free(transcribe_session* session);

// --- Results -------------------------------------------------------------------------------------

// The layout of these two does not change.
typedef struct transcribe_word {
    const char* text;  // with its leading space
    int64_t t0_ms, t1_ms;
    float probability;
} transcribe_word;
typedef struct transcribe_token {
    int32_t id;
    float probability;
} transcribe_token;

typedef struct transcribe_segment {
    size_t size;
    const char* text;  // with its leading space
    int64_t t0_ms, t1_ms;
    const transcribe_word* words;  // where they were asked for
    size_t n_words;
    const transcribe_token* tokens;
    size_t n_tokens;
    float temperature, avg_logprob, compression_ratio, no_speech_prob;
} transcribe_segment;

typedef struct transcribe_result_info {
    size_t size;
    transcribe_status status;  // of this recording
    const char* message;       // what was wrong; "" where nothing was
    const char* text;          // all segments, without blanks at both ends
    const char* language;      // code; "" where it is not known
    float language_probability;
    int64_t duration_ms;
    size_t n_segments;
    const char* note;                               // a warning; "" where there is none
    double mel_ms, encode_ms, decode_ms, total_ms;  // taken; of a batch by all together
} transcribe_result_info;

// What these give is owned by the result and valid until it is freed.
TRANSCRIBE_API transcribe_status transcribe_result_get_info(const transcribe_result* result,
                                                            transcribe_result_info* info);
TRANSCRIBE_API transcribe_status transcribe_result_get_segment(const transcribe_result* result,
                                                               size_t index,
                                                               transcribe_segment* segment);
// The bytes of a file: "txt", "srt", "vtt", "tsv", "json", "jsonl", "csv", "lrc".
TRANSCRIBE_API transcribe_status transcribe_result_format(const transcribe_result* result,
                                                          const char* format, const char** text);
TRANSCRIBE_API transcribe_status transcribe_result_free(transcribe_result* result);

// --- Running -------------------------------------------------------------------------------------

typedef enum transcribe_task {
    TRANSCRIBE_TASK_TRANSCRIBE = 0,
    TRANSCRIBE_TASK_TRANSLATE = 1,  // into English
} transcribe_task;

// In the thread of the run, as segments become final; what it is given is valid until it returns.
typedef void (*transcribe_segment_callback)(void* user, size_t clip,
                                            const transcribe_segment* segment);

// What the decoding numbers mean is told by `transcribe --help`. Strings may be null for "".
typedef struct transcribe_run_options {
    size_t size;
    const char* language;  // code or English name; null or "auto" detects it
    transcribe_task task;
    transcribe_timestamps timestamps;  // default: SEGMENT
    const char *initial_prompt, *hotwords, *prefix;
    bool carry_initial_prompt;
    int32_t condition_on_previous_text;  // 0, 1, or -1 (default): as is best
    bool vad;                            // only what is speech is decoded
    float vad_threshold;
    int32_t vad_min_speech_ms, vad_min_silence_ms, vad_speech_pad_ms;
    int32_t beam_size;  // 0 (default): greedy
    int32_t best_of;
    float patience;
    float temperature, temperature_increment;
    float compression_ratio_threshold, logprob_threshold, no_speech_threshold;
    int32_t max_tokens;  // of a window; 0: the model's limit
    uint32_t seed;
    transcribe_progress_callback on_progress;
    transcribe_segment_callback on_segment;
    void* user;  // for both
} transcribe_run_options;

#define TRANSCRIBE_SAMPLES_MAX (24ull * 3600 * 16000)  // of one call: a day; files have no limit
#define TRANSCRIBE_CLIPS_MAX 65536

TRANSCRIBE_API transcribe_status transcribe_run_options_init(transcribe_run_options* options,
                                                             size_t size);
// The status is that of the recording. There is a result where it is TRANSCRIBE_OK, and, with what
// was decoded, where it is TRANSCRIBE_ABORTED or TRANSCRIBE_OUTPUT_TRUNCATED; else `*result` is
// null. `options` may be null.
TRANSCRIBE_API transcribe_status transcribe_run(transcribe_session* session, const float* pcm,
                                                size_t n_samples,
                                                const transcribe_run_options* options,
                                                transcribe_result** result);
// Any audio or video that FFmpeg decodes; memory does not grow with its length.
TRANSCRIBE_API transcribe_status transcribe_run_file(transcribe_session* session, const char* path,
                                                     const transcribe_run_options* options,
                                                     transcribe_result** result);

// A recording in memory, or, where `path` is not null, a file. The layout does not change.
typedef struct transcribe_clip {
    const float* pcm;
    size_t n_samples;
    const char* path;
} transcribe_clip;
// TRANSCRIBE_OK when each recording has a result with a status of its own, however it ended.
// `results` has room for `n_clips` handles; of a batch that could not be run all are null.
TRANSCRIBE_API transcribe_status transcribe_run_batch(transcribe_session* session,
                                                      const transcribe_clip* clips, size_t n_clips,
                                                      const transcribe_run_options* options,
                                                      transcribe_result** results);

typedef struct transcribe_pcm_format {
    int32_t rate_hz;     // 1000 to 768000
    int32_t n_channels;  // 1 to 64, interleaved
} transcribe_pcm_format;
// Samples of any format as 16 kHz mono. `out` has room for `n_out_max`, and `*n_out` is how many
// there are; where `out` is null, `*n_out` is how much room is enough.
TRANSCRIBE_API transcribe_status transcribe_resample(transcribe_pcm_format format, const float* pcm,
                                                     size_t n_frames, float* out, size_t n_out_max,
                                                     size_t* n_out);

// --- Streams: text of a recording while it goes on -----------------------------------------------

// Strings are valid until the next call for this stream.
typedef struct transcribe_stream_text {
    size_t size;
    const char* committed;         // new since the last call, never taken back
    const transcribe_word* words;  // of it
    size_t n_words;
    const char* partial;  // what follows it, for now
} transcribe_stream_text;

// `options` may be null; its callbacks are not called.
TRANSCRIBE_API transcribe_status transcribe_stream_open(transcribe_session* session,
                                                        const transcribe_run_options* options,
                                                        transcribe_stream** stream);
// Takes sound, and decodes when a second of it is new. `text` may be null.
TRANSCRIBE_API transcribe_status transcribe_stream_feed(transcribe_stream* stream, const float* pcm,
                                                        size_t n_samples,
                                                        transcribe_stream_text* text);
// The end: all that was heard is committed.
TRANSCRIBE_API transcribe_status transcribe_stream_finish(transcribe_stream* stream,
                                                          transcribe_stream_text* text);
// All that was committed so far.
TRANSCRIBE_API transcribe_status transcribe_stream_get_result(transcribe_stream* stream,
                                                              transcribe_result** result);
TRANSCRIBE_API transcribe_status transcribe_stream_free(transcribe_stream* stream);

#ifdef __cplusplus
}
#endif
#endif
