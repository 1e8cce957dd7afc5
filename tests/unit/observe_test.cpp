// What the environment turns on: values inside the network as files, a trace of spans, plain
// attention.
#include "engine/observe.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "base/trace.h"
#include "convert/convert.h"
#include "engine/open.h"
#include "engine/session.h"
#include "model_files.h"

namespace transcribe::test {
namespace {

namespace fs = std::filesystem;

// Sets a variable of the environment for as long as it lives.
class ScopedEnv {
  public:
    ScopedEnv(const char* name, const std::string& value) : name_(name) {
        setenv(name, value.c_str(), 1);
    }
    ~ScopedEnv() { unsetenv(name_); }

  private:
    const char* name_;
};

// ---- taps --------------------------------------------------------------------------------------

std::vector<std::string> files_in(const std::string& folder) {
    std::vector<std::string> names;
    for (auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<float> npy_values(const std::string& path) {
    std::string bytes = read_file(path);
    EXPECT_GE(bytes.size(), 10u) << path;
    size_t begin = 10 + static_cast<u8>(bytes.at(8)) + 256u * static_cast<u8>(bytes.at(9));
    std::vector<float> values((bytes.size() - begin) / sizeof(float));
    std::memcpy(values.data(), bytes.data() + begin, values.size() * sizeof(float));
    return values;
}

std::unique_ptr<NpyTaps> taps(const std::string& names, const std::string& folder) {
    auto made = NpyTaps::make(names, folder);
    if (!made) ADD_FAILURE() << made.error().what;
    return *std::move(made);
}

TEST(NpyTaps, StarsStandForAnyCharacters) {
    struct Case {
        const char *names, *name;
        bool wanted;
    };
    for (Case c : {Case{"*", "enc.out", true},
                   {"enc.out", "enc.out", true},
                   {"enc.out", "enc.out2", false},
                   {"enc.*", "enc.block.0.out", true},
                   {"enc.*", "dec.ln", false},
                   {"*.out", "enc.block.0.out", true},
                   {"*.out", "enc.out.x", false},
                   {"*.block.*.out", "dec.block.3.out", true},
                   {"*.block.*.out", "dec.block.out", false},
                   {"a*a", "a", false},
                   {"**", "x", true},
                   {"*a*b", "xaab", true},
                   {"e*o*t", "enc.out", true}}) {
        EXPECT_EQ(taps(c.names, fresh_folder())->wants(c.name), c.wanted)
            << c.names << " " << c.name;
    }
}

TEST(NpyTaps, NamesThatNobodyGaveAreNoTaps) {
    auto all = taps("*", fresh_folder());
    for (const char* name : {"node_12", "leaf_3", "enc.out (view)", "../up", "a/b"}) {
        EXPECT_FALSE(all->wants(name)) << name;
    }
}

TEST(NpyTaps, FilesAreNumpysSlowestAxisFirst) {
    std::string folder = fresh_folder() + "/made/for/it";
    auto sink = taps("*", folder);
    std::vector<float> six = {1, 2, 3, 4, 5, 6}, three = {7, 8, 9};
    sink->take("enc.out", {3, 2, 1, 1}, six);
    sink->take("enc.out", {3, 1, 1, 1}, three);
    sink->take("enc.out", {1, 1, 3, 1}, three);
    sink->take("other", {1, 1, 1, 1}, std::span(three).first(1));
    EXPECT_TRUE(sink->status());
    EXPECT_EQ(files_in(folder), (std::vector<std::string>{"enc.out.1.npy", "enc.out.2.npy",
                                                          "enc.out.npy", "other.npy"}));
    auto header = [&](const std::string& name) { return read_file(folder + "/" + name); };
    EXPECT_EQ(header("enc.out.npy").substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
    EXPECT_EQ(header("enc.out.npy").size(), 128 + 6 * sizeof(float));
    EXPECT_EQ(header("enc.out.npy").at(127), '\n');
    for (auto [name, shape] : {std::pair{"enc.out.npy", "(2, 3, )"},
                               {"enc.out.1.npy", "(3, )"},
                               {"enc.out.2.npy", "(3, 1, 1, )"},
                               {"other.npy", "(1, )"}}) {
        std::string dict =
            std::string("{'descr': '<f4', 'fortran_order': False, 'shape': ") + shape;
        EXPECT_EQ(header(name).substr(10, dict.size()), dict);
    }
    EXPECT_EQ(npy_values(folder + "/enc.out.npy"), six);
    EXPECT_EQ(npy_values(folder + "/enc.out.1.npy"), three);
}

TEST(NpyTaps, AFolderThatCannotBeIsAnError) {
    std::string file = fresh_folder() + "/file";
    write_file(file, "x");
    auto made = NpyTaps::make("*", file + "/below");
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, Code::io);
    EXPECT_NE(made.error().what.find(file), std::string::npos) << made.error().what;
}

TEST(NpyTaps, AFileThatCannotBeWrittenIsKeptAsAnError) {
    std::string folder = fresh_folder();
    fs::create_directory(folder + "/blocked.npy");
    auto sink = taps("*", folder);
    sink->take("blocked", {1}, std::vector<float>{1});
    ASSERT_FALSE(sink->status());
    EXPECT_EQ(sink->status().error().code, Code::io);
}

// ---- trace -------------------------------------------------------------------------------------

struct Event {
    std::string name, phase;
    double at_us;
};
using Threads = std::map<int, std::vector<Event>>;

// Events of each thread, in the order of the file; the name of the process left out.
Threads events_of(const std::string& path) {
    Threads threads;
    auto events = nlohmann::json::parse(read_file(path), nullptr, false);
    EXPECT_TRUE(events.is_array()) << read_file(path);
    for (const auto& e : events) {
        if (e.at("ph") != "M")
            threads[e.at("tid")].push_back({e.at("name"), e.at("ph"), e.at("ts")});
    }
    return threads;
}

TEST(Trace, OffIsNothing) {
    stop_trace();
    Span span("off");
    std::string path = fresh_folder() + "/trace.json";
    ASSERT_TRUE(start_trace(path));
    stop_trace();
    EXPECT_TRUE(events_of(path).empty());
}

TEST(Trace, SpansNestOnEachOfManyThreads) {
    std::string path = fresh_folder() + "/trace.json";
    ASSERT_TRUE(start_trace(path));
    ASSERT_TRUE(start_trace(path + ".other"));  // goes on with the first
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++) {
        threads.emplace_back([] {
            for (int i = 0; i < 100; i++) {
                Span outer("outer");
                Span inner("inner");
            }
        });
    }
    for (std::thread& t : threads) t.join();
    stop_trace();
    EXPECT_FALSE(fs::exists(path + ".other"));
    Threads events = events_of(path);
    EXPECT_EQ(events.size(), 4u);
    for (const auto& [thread, own] : events) {
        ASSERT_EQ(own.size(), 400u);
        for (size_t i = 0; i < own.size(); i++) {
            EXPECT_EQ(own[i].name, i % 4 == 0 || i % 4 == 3 ? "outer" : "inner");
            EXPECT_EQ(own[i].phase, i % 4 < 2 ? "B" : "E");
            EXPECT_GE(own[i].at_us, own[i > 0 ? i - 1 : 0].at_us);
        }
    }
}

TEST(Trace, AFileThatCannotBeWrittenIsAnError) {
    Status status = start_trace(fresh_folder() + "/no/such/folder.json");
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, Code::io);
}

// ---- a session under the environment
// -------------------------------------------------------------

class Observed : public ::testing::Test {
  protected:
    void SetUp() override {
        folder_ = fresh_folder();
        auto report =
            convert(std::string(TESTS_DIR) + "/twins/data/whisper", folder_ + "/tiny.gguf");
        ASSERT_TRUE(report) << report.error().what;
    }

    Status transcribe() const {
        // In F32: where operands are rounded, two ways to nearly the same numbers can meet again.
        TRY_SET(auto model,
                open_model(folder_ + "/tiny.gguf", {.device = "cpu", .precision = Precision::f32}));
        TRY_SET(auto session, Session::make(model, {.n_threads = 1}));
        std::vector<float> samples;
        for (int i = 0; i < 3200; i++) samples.push_back(0.5f * std::sin(0.1f * i));
        MemorySource source(samples);
        AudioSource* recordings[] = {&source};
        TRY_SET(auto transcripts, session->transcribe(recordings, {}));
        return {};
    }

    std::string folder_;
};

TEST_F(Observed, TapsAreWrittenWhenBothVariablesAreSet) {
    std::string out = folder_ + "/taps";
    {
        ScopedEnv dir("TRANSCRIBE_TAP_DIR", out);
        Status status = transcribe();
        ASSERT_TRUE(status) << status.error().what;
        EXPECT_FALSE(fs::exists(out));
        ScopedEnv names("TRANSCRIBE_TAP", "enc.*");
        ASSERT_TRUE(transcribe());
    }
    EXPECT_EQ(npy_values(out + "/enc.out.npy").size(), 16u * 60);  // width, positions
    for (const std::string& name : files_in(out)) EXPECT_TRUE(name.starts_with("enc.")) << name;
}

TEST_F(Observed, ATapThatCannotBeWrittenFailsTheCall) {
    std::string out = folder_ + "/taps";
    fs::create_directories(out + "/enc.out.npy");
    ScopedEnv names("TRANSCRIBE_TAP", "enc.out"), dir("TRANSCRIBE_TAP_DIR", out);
    Status status = transcribe();
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, Code::io);
}

TEST_F(Observed, FlashOffIsAnotherWayToTheSameNumbers) {
    ScopedEnv names("TRANSCRIBE_TAP", "enc.out");
    std::vector<float> values[2];
    for (const char* flash : {"0", "1"}) {
        ScopedEnv set("TRANSCRIBE_FLASH", flash);
        ScopedEnv dir("TRANSCRIBE_TAP_DIR", folder_ + "/" + flash);
        ASSERT_TRUE(transcribe());
        values[*flash - '0'] = npy_values(folder_ + "/" + flash + "/enc.out.npy");
    }
    ASSERT_EQ(values[0].size(), values[1].size());
    EXPECT_NE(values[0], values[1]) << "the same bits: the switch does nothing";
    for (size_t i = 0; i < values[0].size(); i++) EXPECT_NEAR(values[0][i], values[1][i], 1e-4);
}

TEST_F(Observed, ATraceHasTheSpansOfARun) {
    stop_trace();
    std::string path = folder_ + "/trace.json";
    {
        ScopedEnv set("TRANSCRIBE_TRACE", path);
        ASSERT_TRUE(transcribe());
    }
    stop_trace();
    std::map<std::string, int> depth, n_begun;
    for (const auto& [thread, events] : events_of(path)) {
        for (const Event& e : events) {
            depth[e.name] += e.phase == "B" ? 1 : -1;
            n_begun[e.name] += e.phase == "B";
        }
    }
    for (const char* name : {"load", "lane wait", "scan", "mel", "encode", "prompt", "step"}) {
        EXPECT_GE(n_begun[name], 1) << name;
        EXPECT_EQ(depth[name], 0) << name;
    }
}

}  // namespace
}  // namespace transcribe::test
