// Many sessions of one model at the same time give the bytes of one alone.
#include <map>
#include <mutex>
#include <thread>

#include "api.h"

namespace transcribe::test {

namespace {

// Runs of recordings of several lengths: each of 4 threads has 4 sessions, and goes from one to the
// next.
void expect_equal_to_serial(const Model& model, const std::vector<std::vector<float>>& recordings,
                            int n_runs) {
    std::vector<std::string> serial;
    {
        Session session(model, one_thread());
        for (const auto& pcm : recordings) serial.push_back(bytes(session.run(pcm)));
    }
    constexpr int n_threads = 4, n_sessions = 4;
    std::atomic<int> n_different = 0, n_done = 0;
    auto work = [&](int thread) {
        std::vector<Session> sessions;
        for (int i = 0; i < n_sessions; i++) sessions.emplace_back(model, one_thread());
        for (int i = 0; i < n_runs / n_threads; i++) {
            size_t which = static_cast<size_t>(thread + i) % recordings.size();
            Session& session = sessions[static_cast<size_t>(i % n_sessions)];
            if (bytes(session.run(recordings[which])) != serial[which]) n_different++;
            n_done++;
        }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < n_threads; i++) threads.emplace_back(work, i);
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(n_different, 0);
    EXPECT_EQ(n_done, n_runs);
}

TEST(Parallel, FourThreadsOfFourSessionsEqualOne) {
    Model model = twin();
    expect_equal_to_serial(model, {sound(0.7f, 500), sound(3, 300), sound(1.6, 700), sound(5, 200)},
                           200);
}

TEST(Parallel, FourThreadsOfFourSessionsEqualOneWithARealModel) {
    SKIP_WITHOUT_TINY_EN();
    Model model(tiny_en());
    expect_equal_to_serial(model, {sound(2, 300), sound(1, 600)}, 16);
}

TEST(Parallel, CancelProgressAndErrorsAreOfOneSession) {
    Model model = twin();
    std::vector<float> pcm = sound(60, 440);
    Session first(model, one_thread()), second(model, one_thread());
    RunOptions options;
    options.on_segment = [&](size_t, const transcribe_segment&) { first.cancel(); };
    std::thread other([&] { EXPECT_GT(second.run(pcm).info().n_segments, 1u); });
    transcribe_status status = TRANSCRIBE_OK;
    try {
        first.run(pcm, options);
    } catch (const Failure& failure) {
        status = failure.status();
    }
    other.join();
    EXPECT_EQ(status, TRANSCRIBE_ABORTED);
}

}  // namespace

}  // namespace transcribe::test
