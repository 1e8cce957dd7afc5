// How soon cancel() is heard, from any point of a run.
#include <algorithm>
#include <thread>

#include "api.h"

namespace transcribe::test {

namespace {

// Milliseconds from cancel(), called `after_ms` into a run, to the end of the run; -1 where the run
// was over before.
double cancel_ms(Session& session, const std::vector<float>& pcm, double after_ms) {
    std::atomic<bool> over = false;
    Clock clock;
    double at_ms = 0;
    std::thread canceller([&] {
        std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(after_ms));
        at_ms = clock.ms();
        if (!over) session.cancel();
    });
    transcribe_result* result = nullptr;
    transcribe_status status =
        transcribe_run(session.handle(), pcm.data(), pcm.size(), nullptr, &result);
    double end_ms = clock.ms();
    over = true;
    canceller.join();
    EXPECT_TRUE(result != nullptr);
    transcribe_result_free(result);
    return status == TRANSCRIBE_ABORTED ? end_ms - at_ms : -1;
}

// Milliseconds for a window and one token that nobody cancels.
double window_ms(Session& session) {
    RunOptions options;
    options.temperature_increment = 0;
    options.max_tokens = 1;
    Clock clock;
    session.run(sound(30, 300), options);
    return clock.ms();
}

// Soon is a small part of a window's time, which is longer on a slow machine and in a slow build as
// well. The middle one of several: another program may hold the processor.
TEST(Cancel, IsHeardSoonInATinyModel) {
    SKIP_WITHOUT_TINY_EN();
    Model model(tiny_en());
    Session session(model, one_thread());
    std::vector<float> pcm = sound(120, 300);
    const double whole_ms = window_ms(session);
    std::vector<double> taken;
    for (double after_ms : {2, 10, 20, 40, 60, 100, 150, 200, 300, 400, 500, 700, 1000}) {
        double ms = cancel_ms(session, pcm, after_ms);
        if (ms < 0) continue;
        std::printf("cancelled after %4.0f ms: ended %5.1f ms later\n", after_ms, ms);
        taken.push_back(ms);
    }
    ASSERT_FALSE(taken.empty());
    std::sort(taken.begin(), taken.end());
    const double median_ms = taken[taken.size() / 2];
    std::printf("median %.1f ms, longest %.1f ms; a window takes %.0f ms\n", median_ms,
                taken.back(), whole_ms);
    EXPECT_LT(median_ms, whole_ms / 2);
}

TEST(Cancel, KeepsWhatWasDecodedAndTheSession) {
    Model model = twin();
    Session session(model, one_thread());
    std::vector<float> pcm = sound(30, 300);
    struct User {
        transcribe_session* session;
        int n = 0;
    } user{session.handle()};
    RunOptions options;
    options.user = &user;
    transcribe_run_options c = options;
    c.on_segment = [](void* given, size_t, const transcribe_segment*) {
        auto* self = static_cast<User*>(given);
        if (++self->n == 5) transcribe_session_cancel(self->session);
    };
    transcribe_result* out = nullptr;
    ASSERT_EQ(transcribe_run(session.handle(), pcm.data(), pcm.size(), &c, &out),
              TRANSCRIBE_ABORTED);
    Result result(out);
    EXPECT_GE(result.info().n_segments, 5u);
    EXPECT_EQ(result.info().status, TRANSCRIBE_ABORTED);
    EXPECT_GT(session.run(pcm).info().n_segments, result.info().n_segments);
}

}  // namespace

}  // namespace transcribe::test
