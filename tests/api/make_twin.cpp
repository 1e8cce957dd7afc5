// A committed twin (tests/twins/data) as the GGUF file that programs load:  make_twin FOLDER FILE
#include <cstdio>

#include "convert/convert.h"

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    auto report = transcribe::convert(argv[1], argv[2], {});
    if (report) return 0;
    std::fprintf(stderr, "%s\n", report.error().what.c_str());
    return 1;
}
