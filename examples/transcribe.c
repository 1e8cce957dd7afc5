/* Transcribes a file and prints its lines with times:  example_c MODEL AUDIO
 *
 * MODEL is a name ("tiny.en") or a file. Builds with: cc transcribe.c $(pkg-config --cflags --libs
 * transcribe) */
#include <stdio.h>
#include <transcribe/transcribe.h>

/* Called while the run goes on. */
static void on_segment(void* user, size_t clip, const transcribe_segment* segment) {
    (void)user;
    (void)clip;
    printf("[%8.2f --> %8.2f] %s\n", (double)segment->t0_ms / 1000, (double)segment->t1_ms / 1000,
           segment->text);
}

static int failed(const char* what, transcribe_status status) {
    fprintf(stderr, "%s: %s: %s\n", what, transcribe_status_name(status), transcribe_last_error());
    return 1;
}

static int run(transcribe_session* session, const char* audio) {
    transcribe_run_options options;
    transcribe_run_options_init(&options, sizeof options);
    options.on_segment = on_segment;
    transcribe_result* result = NULL;
    transcribe_status status = transcribe_run_file(session, audio, &options, &result);
    if (status != TRANSCRIBE_OK) {
        transcribe_result_free(result);
        return failed(audio, status);
    }
    transcribe_result_info info = {.size = sizeof info};
    transcribe_result_get_info(result, &info);
    printf("%.1f s of sound in %.1f s\n", (double)info.duration_ms / 1000, info.total_ms / 1000);
    transcribe_result_free(result);
    return 0;
}

int main(int argc, char** argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: %s MODEL AUDIO\n", argv[0]);
        return 2;
    }
    const char* path = NULL;
    transcribe_status status = transcribe_find_model(argv[1], NULL, &path);
    if (status != TRANSCRIBE_OK) return failed(argv[1], status);

    transcribe_model* model = NULL;
    status = transcribe_model_load(path, NULL, &model);
    if (status != TRANSCRIBE_OK) return failed(path, status);

    transcribe_session* session = NULL;
    status = transcribe_session_create(model, NULL, &session);
    transcribe_model_free(model); /* the session keeps it alive */
    if (status != TRANSCRIBE_OK) return failed(path, status);

    int rc = run(session, argv[2]);
    transcribe_session_free(session);
    return rc;
}
