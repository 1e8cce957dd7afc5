// Decoding: every kind of WAV gives its samples, lying headers give one clear sentence, and nothing
// but the named file is read.
#include "audio/decode.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "audio_make_wav.h"

namespace transcribe::test {
namespace {

struct Decoded {
    std::vector<float> samples;
    std::vector<std::string> warnings;
    double duration_hint = 0;
};

Expected<std::vector<float>> read_all(AudioSource& source, size_t n_block = 1000) {
    std::vector<float> all, block(n_block);
    for (;;) {
        TRY_SET(const size_t n, source.read(block));
        all.insert(all.end(), block.begin(), block.begin() + std::ptrdiff_t(n));
        if (n < block.size()) return all;
    }
}

Expected<Decoded> decode(const std::string& path) {
    TRY_SET(auto file, AudioFile::open(path));
    TRY_SET(auto samples, read_all(*file));
    return Decoded{samples, file->warnings(), file->duration_hint()};
}

Expected<Decoded> decode(const Wav& wav) {
    return decode(TempFile("a.wav", wav.bytes()).path());
}

std::vector<double> sine(double hz, int rate_hz, int n, double peak) {
    std::vector<double> x(size_t(n), 0.0);
    for (int i = 0; i < n; i++)
        x[size_t(i)] = peak * std::sin(2 * std::numbers::pi * hz * i / rate_hz);
    return x;
}

template <class T>
std::string pcm(const std::vector<double>& x, double scale, double offset = 0) {
    std::vector<T> samples;
    for (double v : x) samples.push_back(T(v * scale + offset));
    return bytes_of(samples);
}

std::string pcm24(const std::vector<double>& x) {
    std::string bytes;
    for (double v : x) bytes += bytes_of(std::int32_t(v * 8388608)).substr(0, 3);
    return bytes;
}

std::vector<double> interleaved(const std::vector<std::vector<double>>& channels) {
    std::vector<double> x;
    for (size_t i = 0; i < channels[0].size(); i++) {
        for (const auto& channel : channels) x.push_back(channel[i]);
    }
    return x;
}

double rms(const std::vector<float>& x) {
    double sum = 0;
    for (float v : x) sum += double(v) * v;
    return std::sqrt(sum / double(x.size()));
}

Wav speechlike() {
    Wav wav;
    wav.data = pcm<std::int16_t>(sine(440, 16000, 16000, 0.5), 32768);
    return wav;
}

TEST(AudioDecode, SixteenBitSamplesComeThroughUntouched) {
    Wav wav;
    std::vector<std::int16_t> samples;
    for (int i = 0; i < 50000; i++) samples.push_back(std::int16_t(i * 7919 % 65536 - 32768));
    wav.data = bytes_of(samples);
    const auto got = decode(wav);
    ASSERT_TRUE(got) << got.error().what;
    ASSERT_EQ(got->samples.size(), samples.size());
    for (size_t i = 0; i < samples.size(); i++) ASSERT_EQ(got->samples[i], samples[i] / 32768.0f);
    EXPECT_TRUE(got->warnings.empty());
    EXPECT_NEAR(got->duration_hint, 3.125, 1e-3);
}

TEST(AudioDecode, ResamplesAndMixes) {
    const auto tone = sine(1000, 44100, 2 * 44100, 0.5);
    Wav wav{.n_channels = 2, .rate_hz = 44100, .block_bytes = 4};
    wav.data = pcm<std::int16_t>(interleaved({tone, tone}), 32767);
    const auto got = decode(wav);
    ASSERT_TRUE(got) << got.error().what;
    EXPECT_NEAR(double(got->samples.size()), 32000, 2);
    EXPECT_NEAR(rms(got->samples), 0.5 / std::sqrt(2.0), 2e-3);
    const auto wanted = sine(1000, 16000, 32000, 0.5);
    for (size_t i = 1000; i < 31000; i++) ASSERT_NEAR(got->samples[i], wanted[i], 2e-3) << i;
}

std::uint8_t mulaw(double x) {  // ITU-T G.711
    int magnitude = std::min(int(std::abs(x) * 32768), 32635) + 132, exponent = 7;
    while (exponent > 0 && !(magnitude & (128 << exponent))) exponent--;
    const int mantissa = (magnitude >> (exponent + 3)) & 15;
    return std::uint8_t(~((x < 0 ? 128 : 0) | exponent << 4 | mantissa));
}

TEST(AudioDecode, ReadsEveryUsualEncoding) {
    const auto tone = sine(440, 16000, 16000, 0.5);
    std::vector<std::uint8_t> companded;
    for (double v : tone) companded.push_back(mulaw(v));
    const struct {
        const char* name;
        Wav wav;
        double tolerance;
    } cases[] = {
        {"s24 extensible",
         {.tag = 0xFFFE,
          .block_bytes = 3,
          .n_bits = 24,
          .sub_tag = 1,
          .n_valid_bits = 24,
          .data = pcm24(tone)},
         1e-4},
        {"24 bits in 32",
         {.tag = 0xFFFE,
          .block_bytes = 4,
          .n_bits = 32,
          .sub_tag = 1,
          .n_valid_bits = 24,
          .data = pcm<std::int32_t>(tone, 2147483647.0)},
         1e-4},
        {"20 bits in 32",
         {.tag = 0xFFFE,
          .block_bytes = 4,
          .n_bits = 32,
          .sub_tag = 1,
          .n_valid_bits = 20,
          .data = pcm<std::int32_t>(tone, 2147483647.0)},
         1e-4},
        {"float extensible",
         {.tag = 0xFFFE,
          .block_bytes = 4,
          .n_bits = 32,
          .sub_tag = 3,
          .n_valid_bits = 32,
          .data = pcm<float>(tone, 1)},
         1e-4},
        {"s32",
         {.block_bytes = 4, .n_bits = 32, .data = pcm<std::int32_t>(tone, 2147483647.0)},
         1e-4},
        {"float", {.tag = 3, .block_bytes = 4, .n_bits = 32, .data = pcm<float>(tone, 1)}, 1e-4},
        {"double", {.tag = 3, .block_bytes = 8, .n_bits = 64, .data = pcm<double>(tone, 1)}, 1e-4},
        {"u8", {.block_bytes = 1, .n_bits = 8, .data = pcm<std::uint8_t>(tone, 127, 128)}, 2e-2},
        {"mu-law", {.tag = 7, .block_bytes = 1, .n_bits = 8, .data = bytes_of(companded)}, 2e-2},
    };
    for (const auto& c : cases) {
        const auto got = decode(c.wav);
        ASSERT_TRUE(got) << c.name << ": " << got.error().what;
        ASSERT_EQ(got->samples.size(), tone.size()) << c.name;
        for (size_t i = 0; i < tone.size(); i++) {
            ASSERT_NEAR(got->samples[i], tone[i], c.tolerance) << c.name << " sample " << i;
        }
        EXPECT_TRUE(got->warnings.empty()) << c.name << ": " << got->warnings[0];
        EXPECT_NEAR(got->duration_hint, 1.0, 1e-2) << c.name;
    }
}

TEST(AudioDecode, HostileHeadersEndInOneSentence) {
    const struct {
        const char* name;
        std::function<void(Wav&)> harm;
        const char* says;
    } cases[] = {
        {"no channels", [](Wav& w) { w.n_channels = 0; }, "0 channels"},
        {"65535 channels", [](Wav& w) { w.n_channels = 65535; }, "65535 channels"},
        {"rate 0", [](Wav& w) { w.rate_hz = 0; }, "header"},
        {"rate 1", [](Wav& w) { w.rate_hz = 1; }, "at 1 Hz"},
        {"rate 4 G", [](Wav& w) { w.rate_hz = 0xffffffff; }, "header"},
        {"rate 2 G", [](Wav& w) { w.rate_hz = 0x7fffffff; }, "at 2147483647 Hz"},
        {"fmt of 4 G", [](Wav& w) { w.fmt_size = 0xfffffff0; }, "header"},
        {"fmt of 0", [](Wav& w) { w.fmt_size = 0; }, "header"},
        {"bits 0", [](Wav& w) { w.n_bits = 0; }, "unknown codec"},
        {"bits 255", [](Wav& w) { w.n_bits = 255; }, "unknown codec"},
        {"tag 0xffff", [](Wav& w) { w.tag = 0xffff; }, "unknown codec"},
    };
    for (const auto& c : cases) {
        Wav wav = speechlike();
        c.harm(wav);
        const auto got = decode(wav);
        ASSERT_FALSE(got) << c.name;
        EXPECT_EQ(got.error().code, Code::bad_audio) << c.name;
        EXPECT_NE(got.error().what.find(c.says), std::string::npos) << got.error().what;
        EXPECT_NE(got.error().what.find("a.wav"), std::string::npos) << got.error().what;
    }
}

TEST(AudioDecode, SizesNeverFilledInMeanToTheEnd) {
    for (std::int64_t size : {std::int64_t(0), std::int64_t(0xffffffff)}) {
        Wav wav = speechlike();
        wav.riff_size = wav.data_size = size;
        const auto got = decode(wav);
        ASSERT_TRUE(got) << got.error().what;
        EXPECT_EQ(got->samples.size(), 16000u);
        EXPECT_TRUE(got->warnings.empty()) << got->warnings[0];
        EXPECT_LT(got->duration_hint, 1.1);
    }
}

TEST(AudioDecode, CutFileGivesWhatIsThereAndSaysSo) {
    const std::string whole = speechlike().bytes();
    for (size_t n_kept : {size_t(20001), size_t(244)}) {
        const TempFile file("cut.wav", whole.substr(0, n_kept));
        const auto got = decode(file.path());
        ASSERT_TRUE(got) << got.error().what;
        EXPECT_EQ(got->samples.size(), (n_kept - 44) / 2);
        ASSERT_FALSE(got->warnings.empty());
        EXPECT_NE(got->warnings[0].find("cut.wav: the file is cut"), std::string::npos);
    }
    Wav slightly = speechlike();  // an encoder that counts its header as sound
    slightly.data_size = 32200;
    const auto got = decode(slightly);
    ASSERT_TRUE(got) << got.error().what;
    EXPECT_TRUE(got->warnings.empty()) << got->warnings[0];
}

TEST(AudioDecode, RewindGivesTheSameSamplesAgain) {
    Wav wav{.n_channels = 2, .rate_hz = 44100, .block_bytes = 4};
    const auto a = sine(300, 44100, 60000, 0.5), b = sine(1234, 44100, 60000, 0.3);
    wav.data = pcm<std::int16_t>(interleaved({a, b}), 32767);
    const TempFile temp("rewind.wav", wav.bytes());
    auto file = AudioFile::open(temp.path());
    ASSERT_TRUE(file) << file.error().what;
    const auto first = read_all(**file);
    ASSERT_TRUE(first);
    for (size_t n_block : {7u, 4096u, 1000000u}) {
        ASSERT_TRUE((*file)->rewind());
        const auto again = read_all(**file, n_block);
        ASSERT_TRUE(again);
        EXPECT_EQ(*again, *first);
        std::vector<float> part(5000);
        ASSERT_TRUE((*file)->rewind());
        ASSERT_TRUE((*file)->read(part));
        EXPECT_TRUE(std::equal(part.begin(), part.end(), first->begin()));
    }
}

TEST(AudioDecode, RewindOfAVanishedFileIsAnError) {
    const TempFile temp("shrink.wav", speechlike().bytes());
    auto file = AudioFile::open(temp.path());
    ASSERT_TRUE(file) << file.error().what;
    std::filesystem::resize_file(temp.path(), 0);
    const auto status = (*file)->rewind();
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, Code::bad_audio);
    std::vector<float> block(10);
    const auto got = (*file)->read(block);
    ASSERT_TRUE(got);
    EXPECT_EQ(*got, 0u);
}

TEST(AudioDecode, OppositeChannelsDoNotCancel) {
    const auto tone = sine(440, 16000, 16000, 0.5), inverse = sine(440, 16000, 16000, -0.5);
    const auto x = interleaved({tone, inverse});
    const Wav cases[] = {
        {.n_channels = 2, .block_bytes = 4, .data = pcm<std::int16_t>(x, 32768)},
        {.n_channels = 2, .block_bytes = 2, .n_bits = 8, .data = pcm<std::uint8_t>(x, 127, 128)},
        {.n_channels = 2,
         .block_bytes = 8,
         .n_bits = 32,
         .data = pcm<std::int32_t>(x, 2147483647.0)},
        {.tag = 3, .n_channels = 2, .block_bytes = 8, .n_bits = 32, .data = pcm<float>(x, 1)},
        {.tag = 3, .n_channels = 2, .block_bytes = 16, .n_bits = 64, .data = pcm<double>(x, 1)},
    };
    for (const Wav& wav : cases) {
        const auto got = decode(wav);
        ASSERT_TRUE(got) << got.error().what;
        EXPECT_NEAR(rms(got->samples), 0.5 / std::sqrt(2.0), 1e-2) << wav.n_bits;
        ASSERT_EQ(got->warnings.size(), 1u);
        EXPECT_NE(got->warnings[0].find("opposite phase"), std::string::npos);
    }
}

TEST(AudioDecode, OrdinaryStereoIsAPlainMix) {
    const auto a = sine(440, 16000, 16000, 0.5), b = sine(555, 16000, 16000, 0.5);
    const std::vector<double> nothing(16000, 0.0);
    for (const auto& x :
         {interleaved({a, b}), interleaved({a, nothing}), interleaved({nothing, b})}) {
        const Wav wav{.n_channels = 2, .block_bytes = 4, .data = pcm<std::int16_t>(x, 32768)};
        const auto got = decode(wav);
        ASSERT_TRUE(got) << got.error().what;
        EXPECT_TRUE(got->warnings.empty());
        for (size_t i = 0; i < 16000; i++) {
            ASSERT_NEAR(got->samples[i], (x[2 * i] + x[2 * i + 1]) / 2, 1e-4);
        }
    }
}

TEST(AudioDecode, EveryChannelIsHeard) {
    const std::vector<double> nothing(16000, 0.0);
    // Three channels are taken for 2.1, as by the ffmpeg command, whose mix leaves out the LFE.
    for (size_t n_channels : {4u, 6u, 8u, 10u, 17u}) {
        std::vector<std::vector<double>> channels(n_channels, nothing);
        channels[2] = sine(440, 16000, 16000, 0.9);  // the centre, where the layout has one
        const Wav wav{.n_channels = int(n_channels),
                      .block_bytes = int(2 * n_channels),
                      .data = pcm<std::int16_t>(interleaved(channels), 32767)};
        const auto got = decode(wav);
        ASSERT_TRUE(got) << n_channels << ": " << got.error().what;
        ASSERT_EQ(got->samples.size(), 16000u);
        EXPECT_GT(rms(got->samples), 0.9 / std::sqrt(2.0) / double(n_channels) * 0.9) << n_channels;
    }
}

TEST(AudioDecode, NoSamplesAreNoFault) {
    Wav wav;
    const auto got = decode(wav);
    ASSERT_TRUE(got) << got.error().what;
    EXPECT_TRUE(got->samples.empty());
    EXPECT_EQ(got->duration_hint, 0);
}

TEST(AudioDecode, WhatIsNoRecordingIsRefusedByName) {
    const struct {
        const char *bytes, *says;
    } cases[] = {
        {"", "empty"}, {"this is not audio\n", "known format"}, {"RIFF\4\0\0\0WAVE", "format"}};
    for (const auto& c : cases) {
        const TempFile file("odd\nname.wav", c.bytes);
        const auto got = decode(file.path());
        ASSERT_FALSE(got);
        EXPECT_EQ(got.error().code, Code::bad_audio);
        EXPECT_NE(got.error().what.find(c.says), std::string::npos) << got.error().what;
        EXPECT_NE(got.error().what.find("odd\\x0aname.wav"), std::string::npos) << got.error().what;
    }
    const auto folder = AudioFile::open(TESTS_TMP);
    ASSERT_FALSE(folder);
    EXPECT_NE(folder.error().what.find("folder"), std::string::npos);
    const auto missing = AudioFile::open("/nonexistent/a.wav");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, Code::not_found);
}

TEST(AudioDecode, AFileCannotMakeUsReadAnother) {
    const TempFile target("target.wav", speechlike().bytes());
    ASSERT_TRUE(decode(target.path()));
    const std::string url = "file://" + target.path();
    const std::pair<const char*, std::string> cases[] = {
        {"list.m3u8",
         "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:9,\n" + url + "\n#EXT-X-ENDLIST\n"},
        {"list.m3u", "#EXTM3U\n" + target.path() + "\n"},
        {"list.ffconcat", "ffconcat version 1.0\nfile '" + target.path() + "'\n"},
        {"list.sdp",
         "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 5004 "
         "RTP/AVP 0\n"},
    };
    for (const auto& [name, bytes] : cases) {
        const TempFile list(name, bytes);
        EXPECT_FALSE(decode(list.path())) << name;
    }
}

TEST(AudioDecode, NamesAreBytesAndNoAddresses) {
    for (const char* name :
         {"a:b.wav", "http:x.wav", "img%d.wav", "\xE4\xB8\xAD \xFF.wav", "a'b\"c.wav"}) {
        const TempFile file(name, speechlike().bytes());
        const auto got = decode(file.path());
        ASSERT_TRUE(got) << got.error().what;
        EXPECT_EQ(got->samples.size(), 16000u);
    }
}

}  // namespace
}  // namespace transcribe::test
