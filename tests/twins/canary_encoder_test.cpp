// Canary-Qwen's half that hears, from samples to audio embeddings, through the real converter and
// loader: against a tiny twin (data/README.md), and against what NeMo gave for the random
// checkpoint of the folder of references beside the repository, where there is one.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "../npz.h"
#include "../tmp.h"
#include "audio/clip_mel.h"
#include "convert/convert.h"
#include "convert/safetensors.h"
#include "families/canary_qwen/encoder.h"
#include "watch.h"

namespace transcribe::test {

namespace {

using Samples = std::vector<float>;

// A model's half that hears, and a machine to run it on.
struct Ear {
    std::shared_ptr<const Gguf> file;
    Problems problems;
    canary_qwen::AudioConfig config;
    Weights weights;
    canary_qwen::EncoderNet net;
    std::unique_ptr<Mel> mel;
    std::unique_ptr<Compute> compute = *Compute::make(Device::cpu(), *Lanes::make(1, 2));
    Compute::Lease lease{*compute};
    Recorder recorder;

    explicit Ear(const std::string& path)
        : file(*Gguf::open(path)),
          config(canary_qwen::read_audio_config(KvReader(*file, problems))),
          weights(file) {
        net.bind(weights.root() / "enc", config);
        canary_qwen::read_mel_tables(weights, config.mel);
        Status status = weights.finish(Device::cpu());
        EXPECT_TRUE(problems.empty() && status) << status.error().what;
        mel = std::make_unique<Mel>(config.mel);
        compute->observe(&recorder);
    }

    std::vector<canary_qwen::AudioEmbeddings> hear(const std::vector<Samples>& clips) {
        std::vector<std::span<const float>> views(clips.begin(), clips.end());
        auto out = canary_qwen::AudioEncoder(*compute, net, config, *mel).encode(views);
        if (!out) ADD_FAILURE() << out.error().what;
        return *out;
    }

    // All clips as rows of one batch, however their lengths differ -> the tap [n, T', B].
    std::vector<float> in_one_batch(const std::vector<Samples>& clips, const char* tap) {
        std::vector<std::vector<float>> mels;
        for (const Samples& clip : clips) mels.push_back(clip_mel(*mel, clip));
        FrameFeed feed(config.encoder, mels);
        Graph& g = compute->begin();
        auto in = FrameInputs::declare(g, config.encoder, feed.n_frames(), feed.n_rows());
        g.keep(net(in));
        EXPECT_TRUE(feed.run(*compute, in));
        return recorder.taps[tap];
    }
};

void convert_to(const std::string& source, const std::string& path, std::optional<Dtype> type) {
    auto report = convert(source, path, {.type = type, .name = {}, .on_progress = {}});
    ASSERT_TRUE(report) << report.error().what;
}

// What a clip's taps are to be, each of its own frames alone.
using Taps = std::map<std::string, std::vector<float>>;

void expect_taps(const Recorder& recorder, const Taps& wanted) {
    for (const auto& [name, values] : wanted) {
        auto ours = recorder.taps.find(name);
        ASSERT_NE(ours, recorder.taps.end()) << name;
        ASSERT_EQ(ours->second.size(), values.size()) << name;
        EXPECT_LE(nmse(ours->second, values), nmse_f32_max) << name;
    }
}

class CanaryTwin : public ::testing::Test {
  protected:
    void SetUp() override {
        data_ = std::string(TESTS_DIR) + "/twins/data/canary-qwen";
        path_ = tmp_folder() + "/canary-qwen.gguf";
        convert_to(data_, path_, Dtype::f32);
        ASSERT_TRUE(read_safetensors(data_ + "/golden.safetensors", arrays_));
    }

    std::vector<float> array(const std::string& name) const {
        const SourceTensor& t = *arrays_.find(name);
        std::vector<float> out(static_cast<size_t>(t.n_elements()));
        t.read(0, out);
        return out;
    }
    std::vector<Samples> clips() const { return {array("whole.samples"), array("odd.samples")}; }

    Taps taps(const std::string& clip) const {
        Taps out;
        for (const auto& [name, tensor] : arrays_.tensors) {
            if (!name.starts_with(clip + ".") || name.ends_with(".samples")) continue;
            out[name.substr(clip.size() + 1)] = array(name);
        }
        return out;
    }

    std::string data_, path_;
    Checkpoint arrays_;
};

TEST_F(CanaryTwin, EveryTapOfAClip) {
    Ear ear(path_);
    for (const char* clip : {"whole", "odd"}) {
        auto heard = ear.hear({array(std::string(clip) + ".samples")});
        Taps wanted = taps(clip);
        expect_taps(ear.recorder, wanted);
        EXPECT_EQ(heard[0].values, ear.recorder.taps["enc.proj.out"]);
        EXPECT_EQ(heard[0].n_frames * ear.config.d_out,
                  static_cast<i64>(wanted["enc.proj.out"].size()));
    }
}

TEST_F(CanaryTwin, APaddedRowEqualsTheClipAlone) {
    Ear ear(path_);
    for (bool flash : {true, false}) {  // our own attention, and ggml's
        ear.compute->flash = flash;
        auto both = ear.in_one_batch(clips(), "enc.proj.out");
        size_t n_row = both.size() / 2;
        for (size_t row = 0; row < 2; row++) {
            auto wanted = array(row ? "odd.enc.proj.out" : "whole.enc.proj.out");
            auto own = std::span(both).subspan(row * n_row, wanted.size());
            EXPECT_LE(nmse(own, wanted), nmse_f32_max) << row << ", flash " << flash;
        }
    }
}

TEST_F(CanaryTwin, ClipsOfAnyLengthsInAnyOrder) {
    Ear ear(path_);
    std::vector<Samples> all = clips();
    all.insert(all.begin(), Samples(100, 0.1f));  // under one frame
    all.push_back(Samples(all[2].begin(), all[2].begin() + 4000));
    auto heard = ear.hear(all);
    ASSERT_EQ(heard.size(), 4u);
    EXPECT_EQ(heard[0].n_frames, 0);
    for (size_t i = 0; i < all.size(); i++) {
        EXPECT_EQ(heard[i].n_frames, n_audio_frames(ear.config, static_cast<i64>(all[i].size())));
        auto alone = ear.hear({all[i]});
        ASSERT_EQ(heard[i].values.size(), alone[0].values.size());
        if (heard[i].n_frames > 0) {
            EXPECT_LE(nmse(heard[i].values, alone[0].values), nmse_f32_max) << i;
        }
    }
    EXPECT_TRUE(ear.hear({}).empty());
}

// Cancels when the first layer is done.
class Canceller : public Recorder {
  public:
    explicit Canceller(Compute& compute) : compute_(compute) {}
    void take(std::string_view name, const Shape& shape, std::span<const float> values) override {
        Recorder::take(name, shape, values);
        if (name == "enc.block.0.out") compute_.cancelled() = true;
    }

  private:
    Compute& compute_;
};

TEST_F(CanaryTwin, StopsBetweenLayersWhenCancelled) {
    Ear ear(path_);
    Canceller canceller(*ear.compute);
    ear.compute->observe(&canceller);
    Samples clip = array("odd.samples");
    std::vector<std::span<const float>> views = {clip};
    auto out = canary_qwen::AudioEncoder(*ear.compute, ear.net, ear.config, *ear.mel).encode(views);
    ASSERT_FALSE(out);
    EXPECT_EQ(out.error().code, Code::aborted);
    EXPECT_TRUE(canceller.taps.contains("enc.block.0.out"));
    EXPECT_FALSE(canceller.taps.contains("enc.block.1.out"));
}

// As files of this family are published, by a program that shares nothing with the converter.
std::string written_by_script(const std::string& checkpoint, const std::string& pad_mode) {
    std::string path = tmp_folder() + "/" + pad_mode + ".gguf";
    std::string command = fmt::format("python3 '{}/twins/data/canary_qwen_gguf.py' '{}' '{}' {}",
                                      TESTS_DIR, checkpoint, path, pad_mode);
    return std::system(command.c_str()) == 0 ? path : "";
}

TEST_F(CanaryTwin, AFileWrittenFromTheDescriptionIsTheConvertersOwn) {
    std::string path = written_by_script(data_, "constant");
    if (path.empty()) GTEST_SKIP() << "needs python3";
    Ear theirs(path);
    theirs.hear({array("odd.samples")});
    expect_taps(theirs.recorder, taps("odd"));

    convert_to(data_, path_, std::nullopt);
    auto ours = *Gguf::open(path_);
    ASSERT_EQ(ours->tensors().size(), theirs.file->tensors().size());
    for (const GgufTensor& want : theirs.file->tensors()) {
        const GgufTensor* tensor = ours->find(want.name);
        ASSERT_TRUE(tensor) << want.name;
        EXPECT_EQ(tensor->shape, want.shape) << want.name;
        EXPECT_EQ(tensor->dtype, want.dtype) << want.name;
        EXPECT_TRUE(std::ranges::equal(tensor->data, want.data)) << want.name;
    }
    for (const auto& [key, value] : theirs.file->values()) {
        if (key == "general.name") continue;
        ASSERT_TRUE(ours->values().contains(key)) << key;
        EXPECT_EQ(ours->values().at(key), value) << key;
    }
}

TEST_F(CanaryTwin, PadsAsTheFileSays) {
    std::string path = written_by_script(data_, "reflect");
    if (path.empty()) GTEST_SKIP() << "needs python3";
    Ear ear(path);
    EXPECT_EQ(ear.config.mel.padding, MelSpec::Padding::mirror);
    ear.hear({array("odd.samples")});
    EXPECT_GT(nmse(ear.recorder.taps["mel"], taps("odd")["mel"]), 1e-6);
}

// 16-bit mono, behind a header of 44 bytes.
Samples read_wav(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    Samples out;
    for (size_t at = 44; at + 2 <= bytes.size(); at += 2) {
        out.push_back(static_cast<float>(npz::get<std::int16_t>(bytes, at)) / 32768.0f);
    }
    return out;
}

// [rows, columns], the first of which become the last.
std::vector<float> transposed(const NpyArray& a) {
    size_t n_rows = a.shape[0], n_columns = a.shape[1];
    std::vector<float> out(a.values.size());
    for (size_t i = 0; i < out.size(); i++)
        out[i % n_columns * n_rows + i / n_columns] = a.values[i];
    return out;
}

class CanaryReference : public ::testing::TestWithParam<const char*> {
  protected:
    const std::string folder_ = std::string(TESTS_DIR) + "/../../shared/reference/canary_qwen";

    void SetUp() override {
        if (!std::filesystem::exists(folder_)) {
            GTEST_SKIP() << "needs the folder of references beside the repository: " << folder_;
        }
        convert_to(folder_ + "/" + GetParam(), path(), Dtype::f32);
    }
    std::string path() const { return tmp_folder() + "/" + GetParam() + ".gguf"; }

    std::vector<std::string> clip_names() const {
        std::vector<std::string> out;
        for (const auto& entry : std::filesystem::directory_iterator(golden())) {
            std::string name = entry.path().stem();
            if (entry.path().extension() == ".npz" && name != "batch") out.push_back(name);
        }
        return out;
    }
    std::string golden() const { return folder_ + "/golden/" + GetParam(); }
    Samples samples(const std::string& clip) const {
        return read_wav(folder_ + "/wavs/" + clip + ".wav");
    }

    // The rows that count, under our names.
    Taps taps(const std::string& clip, int n_layers) const {
        auto arrays = read_npz(golden() + "/" + clip + ".npz");
        auto n_valid = static_cast<size_t>(arrays.at("enc_n_valid").values.at(0));
        Taps out;
        auto add = [&](const char* ours, const std::string& theirs) {
            const NpyArray& a = arrays.at(theirs);
            auto end = a.values.begin() + static_cast<std::ptrdiff_t>(n_valid * a.shape[1]);
            out[ours].assign(a.values.begin(), end);
        };
        out["mel"] = transposed(arrays.at("mel"));
        add("enc.pre_encode.out", "sub_out");
        for (int i = 0; i < n_layers; i++) {
            add(fmt::format("enc.block.{}.out", i).c_str(), fmt::format("enc_layer{}", i));
        }
        add("enc.proj.out", "proj");
        return out;
    }
};

TEST_P(CanaryReference, EveryTapOfAClip) {
    Ear ear(path());
    ASSERT_EQ(clip_names().size(), 3u);
    for (const std::string& clip : clip_names()) {
        ear.hear({samples(clip)});
        expect_taps(ear.recorder, taps(clip, ear.config.encoder.n_layers));
    }
}

TEST_P(CanaryReference, RowsOfAPaddedBatch) {
    Ear ear(path());
    std::vector<Samples> all;
    for (const std::string& clip : clip_names()) all.push_back(samples(clip));
    auto batch = ear.in_one_batch(all, "enc.proj.out");
    size_t n_row = batch.size() / all.size(), row = 0;
    for (const std::string& clip : clip_names()) {
        auto wanted = taps(clip, 0)["enc.proj.out"];
        auto own = std::span(batch).subspan(row++ * n_row, wanted.size());
        EXPECT_LE(nmse(own, wanted), nmse_f32_max) << clip;
    }
}

INSTANTIATE_TEST_SUITE_P(Checkpoints, CanaryReference,
                         ::testing::Values("salm-random", "salm-digits"), [](const auto& p) {
                             return std::string(p.param) == "salm-random" ? "Random" : "Digits";
                         });

}  // namespace

}  // namespace transcribe::test
