// Prints every word with its time and probability:  example_cpp MODEL AUDIO
#include <cstdio>
#include <exception>
#include <transcribe/transcribe.hpp>

namespace {

void print_words(const transcribe::Result& result) {
    for (const transcribe::Segment& segment : result.segments()) {
        for (const transcribe_word& word : segment.words) {
            double t0_s = static_cast<double>(word.t0_ms) / 1000;
            double t1_s = static_cast<double>(word.t1_ms) / 1000;
            std::printf("%8.2f %8.2f %5.2f %s\n", t0_s, t1_s, word.probability, word.text);
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: %s MODEL AUDIO\n", argv[0]);
        return 2;
    }
    try {
        transcribe::Model model(transcribe::find_model(argv[1]));
        transcribe::Session session(model);
        transcribe::RunOptions options;
        options.timestamps = TRANSCRIBE_TIMESTAMPS_WORD;
        options.on_progress = [](size_t, double fraction) {
            std::fprintf(stderr, "%3.0f %%\n", fraction * 100);
        };
        print_words(session.run_file(argv[2], options));
    } catch (const std::exception& fault) {
        std::fprintf(stderr, "%s\n", fault.what());
        return 1;
    }
}
