// Damaged files and options by the thousand: each gives a status and never ends the process, and
// none of them shows a fault of the library itself (TRANSCRIBE_INTERNAL).
//
// Plain mutation of good files, repeatable by seed. MUTATIONS in the environment sets how many
// (default 400, seconds); what a run of millions finds becomes a test of its own.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "api.h"

namespace transcribe::test {

namespace {

using Bytes = std::vector<char>;

int n_mutations() {
    const char* wanted = std::getenv("MUTATIONS");
    return wanted ? std::atoi(wanted) : 400;
}

Bytes read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return Bytes(std::istreambuf_iterator<char>(file), {});
}

class Mutator {
  public:
    explicit Mutator(unsigned seed) : random_(seed) {}

    // Most faults go to the first `n_head` bytes, where counts, lengths and offsets are.
    Bytes operator()(Bytes bytes, size_t n_head) {
        int n = 1 + static_cast<int>(below(4));
        for (int i = 0; i < n && !bytes.empty(); i++) {
            size_t at = below(below(4) == 0 ? bytes.size() : std::min(n_head, bytes.size()));
            change(bytes, at);
        }
        return bytes;
    }
    size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }

  private:
    void change(Bytes& bytes, size_t at) {
        const std::int64_t extremes[] = {0, 1, -1, 0x7fffffff, INT64_MAX, INT64_MIN, 1 << 20};
        size_t n_left = bytes.size() - at;
        switch (below(6)) {
            case 0: bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8))); break;
            case 1: bytes[at] = static_cast<char>(below(256)); break;
            case 2:
                std::memcpy(&bytes[at], &extremes[below(7)], std::min<size_t>(n_left, 8));
                break;
            case 3:
                std::memcpy(&bytes[at], &extremes[below(7)], std::min<size_t>(n_left, 4));
                break;
            case 4: bytes.resize(at); break;
            default: bytes.insert(bytes.end(), 1 + below(100), 'x');
        }
    }

    std::mt19937 random_;
};

// Of this test alone: ctest runs others beside it, and a file that is cut while it is mapped ends
// the process.
std::string mutated_path() {
    auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    return std::string(TWIN_FILE) + "." + test->name();
}

std::string write_file(const Bytes& bytes) {
    std::string path = mutated_path();
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
    return path;
}

void expect_no_fault(transcribe_status status, int seed) {
    EXPECT_NE(status, TRANSCRIBE_INTERNAL) << "seed " << seed << ": " << transcribe_last_error();
}

TEST(Mutated, ModelsAreRefusedOrRun) {
    Bytes good = read_file(TWIN_FILE);
    ASSERT_FALSE(good.empty());
    std::vector<float> pcm = sound(0.5, 440);
    int n_loaded = 0;
    for (int seed = 0; seed < n_mutations(); seed++) {
        std::string path = write_file(Mutator(static_cast<unsigned>(seed))(good, 12000));
        transcribe_model* model = nullptr;
        transcribe_session* session = nullptr;
        transcribe_result* result = nullptr;
        SessionOptions options = one_thread();
        transcribe_status status = transcribe_model_load(path.c_str(), nullptr, &model);
        if (status == TRANSCRIBE_OK) {
            n_loaded++;
            status = transcribe_session_create(model, &options, &session);
        }
        if (status == TRANSCRIBE_OK) {
            status = transcribe_run(session, pcm.data(), pcm.size(), nullptr, &result);
        }
        expect_no_fault(status, seed);
        transcribe_result_free(result);
        transcribe_session_free(session);
        transcribe_model_free(model);
    }
    std::printf("%d mutations, %d of them loaded\n", n_mutations(), n_loaded);
    std::filesystem::remove(mutated_path());
}

TEST(Mutated, RecordingsAreRefusedOrRun) {
    Bytes good = read_file(SAMPLE_FILE);
    good.resize(std::min<size_t>(good.size(), 40000));
    Model model = twin();
    Session session(model, one_thread());
    for (int seed = 0; seed < n_mutations() / 8; seed++) {
        std::string path = write_file(Mutator(static_cast<unsigned>(seed))(good, 200));
        transcribe_result* result = nullptr;
        expect_no_fault(transcribe_run_file(session.handle(), path.c_str(), nullptr, &result),
                        seed);
        transcribe_result_free(result);
    }
    std::filesystem::remove(mutated_path());
}

// Every byte of the options but their strings, size and callbacks.
TEST(Mutated, OptionsAreRefusedOrRun) {
    Model model = twin();
    Session session(model, one_thread());
    std::vector<float> pcm = sound(0.3, 440);
    for (int seed = 0; seed < n_mutations(); seed++) {
        Mutator mutate(static_cast<unsigned>(seed));
        RunOptions defaults;
        transcribe_run_options options = defaults;
        std::int32_t* numbers[] = {&options.vad_min_speech_ms, &options.vad_min_silence_ms,
                                   &options.vad_speech_pad_ms, &options.beam_size,
                                   &options.best_of,           &options.max_tokens};
        float* reals[] = {&options.patience, &options.temperature_increment,
                          &options.compression_ratio_threshold, &options.logprob_threshold,
                          &options.no_speech_threshold};
        const float odd[] = {NAN, INFINITY, -1, 0, 1e30f, 0.5f, 2, 1e-30f};
        *numbers[mutate.below(6)] = static_cast<std::int32_t>(mutate.below(40)) - 2;
        *reals[mutate.below(5)] = odd[mutate.below(8)];
        transcribe_result* result = nullptr;
        expect_no_fault(transcribe_run(session.handle(), pcm.data(), pcm.size(), &options, &result),
                        seed);
        transcribe_result_free(result);
    }
}

}  // namespace

}  // namespace transcribe::test
