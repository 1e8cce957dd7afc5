// Load, run and free again and again: memory stays flat.
#include <algorithm>
#include <fstream>

#include "api.h"

namespace transcribe::test {

namespace {

// Memory of this process alone, in MB, without pages of files, which come and go; 0 where the
// system does not tell.
double own_mb() {
    std::ifstream file("/proc/self/statm");
    double n_pages = 0, n_resident = 0, n_of_files = 0;
    file >> n_pages >> n_resident >> n_of_files;
    return (n_resident - n_of_files) * 4096 / 1e6;
}

void cycle(const std::vector<float>& pcm) {
    Model model = twin();
    Session session(model, one_thread());
    ASSERT_GT(session.run(pcm).info().n_segments, 0u);
}

// What leaks grows with every part; what was only taken later than the rest (a pool of the C
// library, say) grows once.
TEST(Cycles, FiveHundredLeaveMemoryFlat) {
    if (own_mb() == 0) GTEST_SKIP() << "this system does not tell how much memory is used";
    constexpr int n_parts = 4, n_cycles = 125;
    std::vector<float> pcm = sound(1, 440);
    for (int i = 0; i < 50; i++) cycle(pcm);
    double least_mb = 1e9;
    for (int part = 0; part < n_parts; part++) {
        double before = own_mb();
        for (int i = 0; i < n_cycles; i++) cycle(pcm);
        double after = own_mb();
        std::printf("%d cycles: %.2f MB before, %.2f MB after\n", n_cycles, before, after);
        least_mb = std::min(least_mb, after - before);
    }
    EXPECT_LT(least_mb, 1.0 / n_parts);
}

}  // namespace

}  // namespace transcribe::test
