/* What a careless program does to the C interface:  abuse MODEL
 *
 * Null, wrong sizes, NaN samples, huge counts, numbers out of their limits, and handles that were
 * freed, freed twice, or are of another kind. Each gives its status and a sentence; none may
 * crash. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <transcribe/transcribe.h>

static int n_faults = 0;

static void expect_at(int line, transcribe_status got, transcribe_status wanted) {
    const char* sentence = transcribe_last_error();
    if (got != wanted) {
        printf("line %d: %s, expected %s: %s\n", line, transcribe_status_name(got),
               transcribe_status_name(wanted), sentence);
        n_faults++;
    } else if (got != TRANSCRIBE_OK && strlen(sentence) < 10) {
        printf("line %d: no sentence: '%s'\n", line, sentence);
        n_faults++;
    }
}
#define EXPECT(status, call) expect_at(__LINE__, call, TRANSCRIBE_##status)

static float tone[16000];

static void fill_tone(void) {
    for (int i = 0; i < 16000; i++) tone[i] = 0.3f * sinf((float)i * 0.1f);
}

static void nulls(void) {
    transcribe_model* model = NULL;
    transcribe_session* session = NULL;
    transcribe_stream* stream = NULL;
    transcribe_result* result = NULL;
    const char* text = NULL;
    size_t n = 0;
    EXPECT(INVALID_ARG, transcribe_model_load(NULL, NULL, &model));
    EXPECT(INVALID_ARG, transcribe_model_load("x", NULL, NULL));
    EXPECT(INVALID_ARG, transcribe_model_get_info(NULL, NULL));
    EXPECT(INVALID_ARG, transcribe_find_model(NULL, NULL, &text));
    EXPECT(INVALID_ARG, transcribe_find_model("tiny.en", NULL, NULL));
    EXPECT(INVALID_ARG, transcribe_session_create(NULL, NULL, &session));
    EXPECT(INVALID_ARG, transcribe_session_cancel(NULL));
    EXPECT(INVALID_ARG, transcribe_run(NULL, tone, 10, NULL, &result));
    EXPECT(INVALID_ARG, transcribe_run_file(NULL, NULL, NULL, &result));
    EXPECT(INVALID_ARG, transcribe_run_batch(NULL, NULL, 3, NULL, NULL));
    EXPECT(INVALID_ARG, transcribe_result_get_info(NULL, NULL));
    EXPECT(INVALID_ARG, transcribe_result_get_segment(NULL, 0, NULL));
    EXPECT(INVALID_ARG, transcribe_result_format(NULL, NULL, &text));
    EXPECT(INVALID_ARG, transcribe_stream_open(NULL, NULL, &stream));
    EXPECT(INVALID_ARG, transcribe_stream_feed(NULL, tone, 10, NULL));
    EXPECT(INVALID_ARG, transcribe_stream_finish(NULL, NULL));
    EXPECT(INVALID_ARG, transcribe_stream_get_result(NULL, &result));
    EXPECT(INVALID_ARG, transcribe_run_options_init(NULL, sizeof(transcribe_run_options)));
    EXPECT(INVALID_ARG, transcribe_device_get_info(0, NULL));
    EXPECT(INVALID_ARG,
           transcribe_resample((transcribe_pcm_format){16000, 1}, NULL, 5, tone, 5, &n));
    EXPECT(INVALID_ARG,
           transcribe_resample((transcribe_pcm_format){16000, 1}, tone, 5, tone, 5, NULL));
    EXPECT(OK, transcribe_model_free(NULL));
    EXPECT(OK, transcribe_session_free(NULL));
    EXPECT(OK, transcribe_stream_free(NULL));
    EXPECT(OK, transcribe_result_free(NULL));
    transcribe_set_log_callback(NULL, NULL);
}

static void wrong_sizes(const char* path, const transcribe_model* model,
                        transcribe_session* session) {
    transcribe_run_options run;
    transcribe_model_options load = {0};
    transcribe_session_options with = {.size = 3};
    transcribe_device_info device = {0};
    transcribe_model_info info = {.size = (size_t)-1};
    transcribe_limits limits = {0};
    transcribe_model* loaded = NULL;
    transcribe_session* made = NULL;
    transcribe_result* result = NULL;
    EXPECT(BAD_STRUCT_SIZE, transcribe_run_options_init(&run, 8));
    EXPECT(BAD_STRUCT_SIZE, transcribe_model_load(path, &load, &loaded));
    EXPECT(BAD_STRUCT_SIZE, transcribe_session_create(model, &with, &made));
    EXPECT(BAD_STRUCT_SIZE, transcribe_device_get_info(0, &device));
    EXPECT(BAD_STRUCT_SIZE, transcribe_model_get_info(model, &info));
    EXPECT(BAD_STRUCT_SIZE, transcribe_session_get_limits(session, &limits));
    with = (transcribe_session_options){.size = sizeof with, .n_ctx = 3};
    EXPECT(INVALID_ARG, transcribe_session_create(model, &with, &made));
    EXPECT(OK, transcribe_run_options_init(&run, sizeof run));
    run.size++;
    EXPECT(BAD_STRUCT_SIZE, transcribe_run(session, tone, 16000, &run, &result));
}

static void bad_models(const char* audio) {
    transcribe_model* model = NULL;
    transcribe_model_options options;
    transcribe_model_options_init(&options, sizeof options);
    EXPECT(FILE_NOT_FOUND, transcribe_model_load("no/such/model.gguf", NULL, &model));
    EXPECT(GGUF, transcribe_model_load(audio, NULL, &model));
    options.device = "no such device";
    EXPECT(INVALID_ARG, transcribe_model_load(audio, &options, &model));
    options.device = NULL;
    options.precision = "f12";
    EXPECT(INVALID_ARG, transcribe_model_load(audio, &options, &model));
    EXPECT(INVALID_ARG, transcribe_model_load_from_memory(NULL, 5, NULL, &model));
    EXPECT(INVALID_ARG, transcribe_model_load_from_memory(tone, (size_t)-1, NULL, &model));
    EXPECT(INVALID_ARG, transcribe_model_load_from_memory(tone, 5, NULL, NULL));
    EXPECT(GGUF, transcribe_model_load_from_memory(tone, 0, NULL, &model));
    EXPECT(GGUF, transcribe_model_load_from_memory(tone, sizeof tone, NULL, &model));
    if (model) n_faults++;
}

static void bad_samples(transcribe_session* session) {
    transcribe_result* result = NULL;
    float samples[100] = {0};
    EXPECT(INVALID_ARG, transcribe_run(session, NULL, 5, NULL, &result));
    EXPECT(INPUT_TOO_LONG, transcribe_run(session, samples, (size_t)-1, NULL, &result));
    EXPECT(INPUT_TOO_LONG, transcribe_run(session, samples, (size_t)-1 / 4, NULL, &result));
    const float bad[] = {NAN, INFINITY, -INFINITY, 32767.0f, 1e30f};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        samples[57] = bad[i];
        EXPECT(INVALID_ARG, transcribe_run(session, samples, 100, NULL, &result));
    }
    if (result) n_faults++;
    EXPECT(FILE_NOT_FOUND, transcribe_run_file(session, "no/such/file.wav", NULL, &result));
    EXPECT(OK, transcribe_run(session, NULL, 0, NULL, &result));
    transcribe_result_info info = {.size = sizeof info};
    EXPECT(OK, transcribe_result_get_info(result, &info));
    if (info.n_segments != 0 || strcmp(info.text, "") != 0) n_faults++;
    EXPECT(OK, transcribe_result_free(result));
}

static void bad_options(transcribe_session* session) {
    transcribe_result* result = NULL;
    transcribe_run_options options;
#define WITH(status, field, value)                                               \
    do {                                                                         \
        transcribe_run_options_init(&options, sizeof options);                   \
        options.field = value;                                                   \
        EXPECT(status, transcribe_run(session, tone, 16000, &options, &result)); \
    } while (0)
    WITH(UNSUPPORTED_LANGUAGE, language, "klingon");
    WITH(UNSUPPORTED_LANGUAGE, language, "\xff\xfe");
    WITH(INVALID_ARG, task, (transcribe_task)77);
    WITH(INVALID_ARG, timestamps, (transcribe_timestamps)-1);
    WITH(INVALID_ARG, beam_size, 1 << 30);
    WITH(INVALID_ARG, best_of, -1);
    WITH(INVALID_ARG, temperature, NAN);
    WITH(INVALID_ARG, logprob_threshold, INFINITY);
    WITH(INVALID_ARG, max_tokens, -5);
    WITH(INVALID_ARG, vad, true); /* and the session has no detector */
    static char long_text[100000];
    memset(long_text, 'a', sizeof long_text - 1);
    WITH(INVALID_ARG, initial_prompt, long_text);
    if (result) n_faults++;
}

static void batches(transcribe_session* session) {
    float nan_sample = NAN;
    transcribe_clip clips[] = {{tone, 16000, NULL},
                               {&nan_sample, 1, NULL},
                               {NULL, 7, NULL},
                               {NULL, 0, "no/such/file"},
                               {NULL, 0, NULL}};
    const transcribe_status wanted[] = {TRANSCRIBE_OK, TRANSCRIBE_INVALID_ARG,
                                        TRANSCRIBE_INVALID_ARG, TRANSCRIBE_FILE_NOT_FOUND,
                                        TRANSCRIBE_OK};
    transcribe_result* results[5] = {0};
    EXPECT(INVALID_ARG, transcribe_run_batch(session, clips, (size_t)-1, NULL, results));
    EXPECT(OK, transcribe_run_batch(session, NULL, 0, NULL, NULL));
    EXPECT(OK, transcribe_run_batch(session, clips, 5, NULL, results));
    for (int i = 0; i < 5; i++) {
        transcribe_result_info info = {.size = sizeof info};
        EXPECT(OK, transcribe_result_get_info(results[i], &info));
        expect_at(__LINE__, info.status, wanted[i]);
        EXPECT(OK, transcribe_result_free(results[i]));
    }
}

static void results(transcribe_session* session) {
    transcribe_result* result = NULL;
    transcribe_segment segment = {.size = sizeof segment};
    const char* text = NULL;
    EXPECT(OK, transcribe_run(session, tone, 16000, NULL, &result));
    EXPECT(INVALID_ARG, transcribe_result_get_segment(result, 1000000, &segment));
    EXPECT(INVALID_ARG, transcribe_result_format(result, "docx", &text));
    EXPECT(OK, transcribe_result_format(result, "srt", &text));
    EXPECT(OK, transcribe_result_free(result));
    EXPECT(INVALID_ARG, transcribe_result_free(result));
    EXPECT(INVALID_ARG, transcribe_result_format(result, "srt", &text));
}

/* Everything in the wrong order; the session and the stream go on without their owners. */
static void wrong_order(const char* path) {
    transcribe_model* model = NULL;
    transcribe_session *session = NULL, *other = NULL;
    transcribe_stream* stream = NULL;
    transcribe_result* result = NULL;
    EXPECT(OK, transcribe_model_load(path, NULL, &model));
    EXPECT(OK, transcribe_session_create(model, NULL, &session));
    EXPECT(OK, transcribe_stream_open(session, NULL, &stream));
    EXPECT(OK, transcribe_model_free(model));
    EXPECT(INVALID_ARG, transcribe_model_free(model));
    EXPECT(INVALID_ARG, transcribe_session_create(model, NULL, &other));
    EXPECT(INVALID_ARG, transcribe_session_free((transcribe_session*)(void*)model));
    EXPECT(INVALID_ARG, transcribe_session_free((transcribe_session*)(void*)&model));
    EXPECT(OK, transcribe_session_free(session));
    EXPECT(OK, transcribe_stream_feed(stream, tone, 16000, NULL));
    EXPECT(OK, transcribe_stream_finish(stream, NULL));
    EXPECT(OK, transcribe_stream_get_result(stream, &result));
    EXPECT(OK, transcribe_stream_free(stream));
    EXPECT(INVALID_ARG, transcribe_stream_free(stream));
    EXPECT(INVALID_ARG, transcribe_stream_feed(stream, tone, 16000, NULL));
    EXPECT(OK, transcribe_result_free(result));
}

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    fill_tone();
    nulls();
    transcribe_model* model = NULL;
    transcribe_session* session = NULL;
    EXPECT(OK, transcribe_model_load(argv[1], NULL, &model));
    EXPECT(OK, transcribe_session_create(model, NULL, &session));
    wrong_sizes(argv[1], model, session);
    bad_models(argv[2]);
    bad_samples(session);
    bad_options(session);
    batches(session);
    results(session);
    wrong_order(argv[1]);
    EXPECT(OK, transcribe_session_free(session));
    EXPECT(OK, transcribe_model_free(model));
    printf("%d faults\n", n_faults);
    return n_faults == 0 ? 0 : 1;
}
