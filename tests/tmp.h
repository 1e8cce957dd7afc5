// A folder of this test process: ctest runs the tests of one program side by side, each in a
// process of its own, and names that they shared would collide.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

namespace transcribe::test {

// Made at first use, removed when the process ends.
inline const std::string& tmp_folder() {
    struct Folder {
        std::string path = std::string(TESTS_TMP) + "/tmp." + std::to_string(getpid());
        Folder() { std::filesystem::create_directories(path); }
        ~Folder() {
            std::error_code ignored;
            std::filesystem::remove_all(path, ignored);
        }
    };
    static const Folder folder;
    return folder.path;
}

}  // namespace transcribe::test
