// Load, run and free again and again: memory stays flat.
#include <fstream>

#include "api.h"

namespace transcribe::test {

namespace {

// Resident memory; 0 where the system does not tell.
double resident_mb() {
    std::ifstream file("/proc/self/statm");
    double n_pages = 0, n_resident = 0;
    file >> n_pages >> n_resident;
    return n_resident * 4096 / 1e6;
}

void cycle(const std::vector<float>& pcm) {
    Model model = twin();
    Session session(model, one_thread());
    ASSERT_GT(session.run(pcm).info().n_segments, 0u);
}

TEST(Cycles, FiveHundredLeaveMemoryFlat) {
    if (resident_mb() == 0) GTEST_SKIP() << "this system does not tell how much memory is used";
    std::vector<float> pcm = sound(1, 440);
    for (int i = 0; i < 50; i++) cycle(pcm);
    double before = resident_mb();
    for (int i = 0; i < 500; i++) cycle(pcm);
    double after = resident_mb();
    std::printf("resident: %.2f MB before, %.2f MB after 500 cycles\n", before, after);
    EXPECT_LT(after, before + 1);
}

}  // namespace

}  // namespace transcribe::test
