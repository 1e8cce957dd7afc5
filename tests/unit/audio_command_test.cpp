// Recordings of ../shared/audio: samples equal the ffmpeg command's; damage is skipped and
// told. Skipped where that folder or the command is not there.
#include <gtest/gtest.h>

#include <cstdio>

#include "audio/decode.h"
#include "audio_make_wav.h"

namespace transcribe::test {
namespace {

const std::filesystem::path shared_audio = std::filesystem::path(TESTS_DIR) / "../../shared/audio";

std::vector<std::int16_t> by_command(const std::string& path) {
    const std::string command =
        "ffmpeg -v quiet -nostdin -i '" + path + "' -f s16le -ac 1 -ar 16000 - 2>/dev/null";
    std::vector<std::int16_t> samples, block(1 << 16);
    FILE* pipe = popen(command.c_str(), "r");
    if (!pipe) return samples;
    while (const size_t n = fread(block.data(), 2, block.size(), pipe)) {
        samples.insert(samples.end(), block.begin(), block.begin() + std::ptrdiff_t(n));
    }
    pclose(pipe);
    return samples;
}

Expected<std::vector<std::int16_t>> by_library(AudioFile& file) {
    std::vector<std::int16_t> samples;
    std::vector<float> block(1 << 16);
    for (;;) {
        TRY_SET(const size_t n, file.read(block));
        for (size_t i = 0; i < n; i++) samples.push_back(std::int16_t(block[i] * 32768));
        if (n < block.size()) return samples;
    }
}

TEST(AudioCommand, SamplesEqualTheFfmpegCommand) {
    if (!std::filesystem::exists(shared_audio)) GTEST_SKIP() << "there is no ../shared/audio";
    if (std::system("ffmpeg -version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no ffmpeg command";
    for (const char* name :
         {"en-8channel-48k.m4a", "en-cold-24bit.wav", "en-jfk-44k-stereo.flac",
          "en-jfk-8k-mulaw.au", "en-jfk-opus.webm", "en-libri-198-22k.ogg", "en-sonnet1-head.mp4",
          "en-sonnet1.mp3", "es-mls-13697.opus", "fr-lesmis-22k.wav", "en-columbia-198s.wma"}) {
        const std::string path = (shared_audio / name).string();
        auto file = AudioFile::open(path);
        ASSERT_TRUE(file) << file.error().what;
        const auto got = by_library(**file);
        ASSERT_TRUE(got) << got.error().what;
        EXPECT_TRUE(*got == by_command(path)) << path << ": " << got->size() << " samples";
        EXPECT_TRUE((*file)->warnings().empty()) << (*file)->warnings()[0];
        EXPECT_NEAR((*file)->duration_hint(), double(got->size()) / sample_rate, 0.1) << path;
    }
}

TEST(AudioCommand, DamageInTheMiddleIsSkippedAndTold) {
    if (!std::filesystem::exists(shared_audio)) GTEST_SKIP() << "there is no ../shared/audio";
    for (const char* name : {"en-sonnet1.mp3", "en-libri-ls_test.flac"}) {
        std::ifstream in(shared_audio / name, std::ios::binary);
        std::string bytes((std::istreambuf_iterator<char>(in)), {});
        const size_t n_garbage = bytes.size() / 20;
        for (size_t i = 0; i < n_garbage; i++) {
            bytes[bytes.size() / 2 + i] = char(i * i * 31 + i * 7 + (i >> 8) * 13);
        }
        const TempFile damaged(std::string("damaged-") + name, bytes);
        auto whole = AudioFile::open((shared_audio / name).string());
        auto file = AudioFile::open(damaged.path());
        ASSERT_TRUE(whole && file) << name;
        const auto wanted = by_library(**whole), got = by_library(**file);
        ASSERT_TRUE(wanted && got) << name;
        EXPECT_GT(double(got->size()), 0.85 * double(wanted->size())) << name;
        ASSERT_FALSE((*file)->warnings().empty()) << name;
        const size_t n_warnings = (*file)->warnings().size();
        ASSERT_TRUE((*file)->rewind());
        ASSERT_TRUE(by_library(**file));
        EXPECT_EQ((*file)->warnings().size(), n_warnings) << "told twice: " << name;
    }
}

TEST(AudioCommand, CompressedFilesSayWhenTheyAreCut) {
    if (!std::filesystem::exists(shared_audio)) GTEST_SKIP() << "there is no ../shared/audio";
    for (const char* name : {"en-libri-ls_test.flac", "en-jfk-opus.webm", "en-columbia-198s.wma"}) {
        std::ifstream in(shared_audio / name, std::ios::binary);
        const std::string bytes((std::istreambuf_iterator<char>(in)), {});
        const TempFile cut(std::string("cut-") + name, bytes.substr(0, bytes.size() / 2));
        auto file = AudioFile::open(cut.path());
        ASSERT_TRUE(file) << file.error().what;
        const auto got = by_library(**file);
        ASSERT_TRUE(got) << got.error().what;
        EXPECT_GT(got->size(), 16000u);
        EXPECT_FALSE((*file)->warnings().empty()) << name;
    }
}

}  // namespace
}  // namespace transcribe::test
