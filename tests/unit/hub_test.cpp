// The hub against a local HTTP server and with no network: download, resume, checksums, names,
// cache.
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "../tmp.h"
#include "base/env.h"
#include "hub/download.h"
#include "hub/hub.h"
#include "hub/os.h"
#include "hub/sha256.h"

extern char** environ;

namespace transcribe {
namespace {

namespace fs = std::filesystem;

std::string read_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

void write_file(const std::string& path, const std::string& data) {
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << data;
}

std::string some_bytes(size_t n) {
    std::string bytes(n, '\0');
    unsigned x = 1;
    for (char& c : bytes) c = static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
    return bytes;
}

// Sets a variable for as long as it lives.
class ScopedEnv {
  public:
    ScopedEnv(std::string name, const std::string& value) : name_(std::move(name)) {
        if (const char* old = std::getenv(name_.c_str())) old_ = old;
        setenv(name_.c_str(), value.c_str(), 1);
    }
    ~ScopedEnv() { old_ ? setenv(name_.c_str(), old_->c_str(), 1) : unsetenv(name_.c_str()); }

  private:
    std::string name_;
    std::optional<std::string> old_;
};

std::string fresh_dir(const std::string& name) {
    std::string dir = test::tmp_folder() + "/hub_" + name;
    fs::remove_all(dir);
    fs::create_directories(dir);
    return dir;
}

class Server {
  public:
    explicit Server(const std::string& dir) : dir_(dir) {
        std::string script = std::string(TESTS_DIR) + "/unit/data/range_server.py";
        std::string port_file = dir + "/port";
        std::string name = "python3";
        std::vector<char*> argv{name.data(), script.data(), dir_.data(), port_file.data(), nullptr};
        if (posix_spawnp(&pid_, "python3", nullptr, nullptr, argv.data(), environ) != 0) return;
        for (int i = 0; i < 1000 && !fs::exists(port_file); i++) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        std::string port = read_file(port_file);
        if (!port.empty()) address_ = "http://127.0.0.1:" + port.substr(0, port.find('\n'));
    }
    ~Server() {
        if (pid_ <= 0) return;
        kill(pid_, SIGTERM);
        waitpid(pid_, nullptr, 0);
    }
    const std::string& address() const { return address_; }
    std::string requests() const { return read_file(dir_ + "/requests.log"); }

  private:
    std::string dir_, address_;
    pid_t pid_ = 0;
};

const std::string local_host = "127.0.0.1";

class Download : public testing::Test {
  protected:
    void SetUp() override {
        if (run_process({"python3", "--version"})) server_ = std::make_unique<Server>(dir_);
        if (!server_) GTEST_SKIP() << "needs python3 for a local HTTP server";
        ASSERT_FALSE(server_->address().empty()) << "the local HTTP server did not start";
        write_file(dir_ + "/file", data_);
    }
    void TearDown() override {
        server_.reset();
        fs::remove_all(dir_);
    }
    DownloadRequest request(const std::string& mode) const {
        return {.url = server_->address() + "/" + mode + "/file",
                .path = out_,
                .sha256 = sum_,
                .n_bytes = static_cast<i64>(data_.size()),
                .on_progress = {},
                .retry_wait_s = 0.01};
    }
    bool nothing_left() const { return !fs::exists(out_) && !fs::exists(out_ + ".part"); }

    std::string dir_ = fresh_dir(testing::UnitTest::GetInstance()->current_test_info()->name());
    std::string out_ = dir_ + "/out";
    std::string data_ = some_bytes(300'000);
    std::string sum_ = [this] {
        Sha256 sum;
        sum.add(data_);
        return sum.hex();
    }();
    std::unique_ptr<Server> server_;
    ScopedEnv no_proxy_{"no_proxy", local_host};
};

TEST_F(Download, WholeFileWithProgress) {
    DownloadRequest r = request("plain");
    i64 n_last = 0;
    r.on_progress = [&](i64 n_done, i64 n_total) {
        EXPECT_GE(n_done, n_last);
        EXPECT_EQ(n_total, 300'000);
        n_last = n_done;
    };
    Status status = download(r);
    ASSERT_TRUE(status) << status.error().what;
    EXPECT_EQ(read_file(out_), data_);
    EXPECT_EQ(n_last, 300'000);
    EXPECT_FALSE(fs::exists(out_ + ".part"));
}

TEST_F(Download, GoesOnAfterACutInTheSameCall) {
    Status status = download(request("cut"));
    ASSERT_TRUE(status) << status.error().what;
    EXPECT_EQ(read_file(out_), data_);
    EXPECT_EQ(server_->requests(), "/cut/file -\n/cut/file bytes=150000-\n");
}

TEST_F(Download, GoesOnWithThePartOfAnEarlierCall) {
    write_file(out_ + ".part", data_.substr(0, 100'000));
    Status status = download(request("plain"));
    ASSERT_TRUE(status) << status.error().what;
    EXPECT_EQ(read_file(out_), data_);
    EXPECT_EQ(server_->requests(), "/plain/file bytes=100000-\n");
}

TEST_F(Download, StartsAgainWhereTheServerKnowsNoRanges) {
    write_file(out_ + ".part", "something else");
    Status status = download(request("norange"));
    ASSERT_TRUE(status) << status.error().what;
    EXPECT_EQ(read_file(out_), data_);
}

TEST_F(Download, StartsAgainWhenThePartIsOfALongerFile) {
    DownloadRequest r = request("plain");
    r.n_bytes = 0;
    write_file(out_ + ".part", some_bytes(300'001));
    Status status = download(r);
    ASSERT_TRUE(status) << status.error().what;
    EXPECT_EQ(read_file(out_), data_);
}

TEST_F(Download, WaitsForABusyServer) {
    Status status = download(request("busy"));
    ASSERT_TRUE(status) << status.error().what;
    EXPECT_EQ(read_file(out_), data_);
}

TEST_F(Download, RefusesAndRemovesAWrongSum) {
    DownloadRequest r = request("plain");
    r.sha256 = std::string(64, '0');
    Status status = download(r);
    ASSERT_FALSE(status);
    EXPECT_NE(status.error().what.find(sum_ + " instead of 0000"), std::string::npos)
        << status.error().what;
    EXPECT_TRUE(nothing_left());
}

TEST_F(Download, NamesWhatTheServerDoesNotHave) {
    DownloadRequest r = request("plain");
    r.url += ".gone";
    Status status = download(r);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, Code::not_found);
    EXPECT_NE(status.error().what.find("file.gone"), std::string::npos) << status.error().what;
    EXPECT_NE(status.error().what.find("404"), std::string::npos) << status.error().what;
    EXPECT_TRUE(nothing_left());
}

TEST_F(Download, StopsAServerThatSendsTooMuch) {
    DownloadRequest r = request("endless");
    Status known = download(r);
    ASSERT_FALSE(known);
    EXPECT_NE(known.error().what.find("more than the 300000 bytes"), std::string::npos)
        << known.error().what;
    fs::remove(out_ + ".part");
    r.n_bytes = 0;
    EXPECT_FALSE(download(r));
    EXPECT_LE(fs::file_size(out_ + ".part"), 64u << 20);
    EXPECT_FALSE(fs::exists(out_));
}

TEST_F(Download, SaysThatAFolderIsMissing) {
    DownloadRequest r = request("plain");
    r.path = dir_ + "/no/such/folder";
    Status status = download(r);
    ASSERT_FALSE(status);
    EXPECT_NE(status.error().what.find("cannot write"), std::string::npos) << status.error().what;
}

TEST_F(Download, HubFilesLandUnderTheirNames) {
    std::string base = dir_ + "/openai/whisper-test/resolve/abc/";
    for (const char* name :
         {"config.json", "generation_config.json", "preprocessor_config.json", "tokenizer.json"}) {
        write_file(base + name, name);
    }
    write_file(base + "model.safetensors", data_);
    HubSource source{"openai/whisper-test", "abc", static_cast<i64>(data_.size()), sum_.c_str()};
    ScopedEnv hub("TRANSCRIBE_HUB", server_->address() + "/");
    Status status = fetch_from_hub(source, dir_ + "/model", {});
    ASSERT_TRUE(status) << status.error().what;
    EXPECT_EQ(read_file(dir_ + "/model/config.json"), "config.json");
    EXPECT_EQ(read_file(dir_ + "/model/model.safetensors"), data_);

    std::string before = server_->requests();
    EXPECT_TRUE(fetch_from_hub(source, dir_ + "/model", {}));
    EXPECT_EQ(server_->requests(), before) << "files that are there were asked for again";
}

TEST(DownloadOffline, GivesUpAtOnceWhereNobodyListens) {
    ScopedEnv no_proxy("no_proxy", local_host);
    std::string dir = fresh_dir("offline");
    auto start = std::chrono::steady_clock::now();
    Status status = download({.url = "http://127.0.0.1:1/file",
                              .path = dir + "/out",
                              .sha256 = {},
                              .on_progress = {},
                              .retry_wait_s = 10});
    EXPECT_FALSE(status);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(6));
    EXPECT_TRUE(fs::is_empty(dir));
    fs::remove_all(dir);
}

TEST(DownloadOffline, RefusesOtherProtocols) {
    std::string dir = fresh_dir("protocols");
    write_file(dir + "/secret", "secret");
    EXPECT_FALSE(download({.url = "file://" + dir + "/secret",
                           .path = dir + "/out",
                           .sha256 = {},
                           .on_progress = {}}));
    EXPECT_FALSE(fs::exists(dir + "/out"));
    fs::remove_all(dir);
}

TEST(Sha256, KnownSums) {
    EXPECT_EQ(Sha256().hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    Sha256 sum;
    sum.add(std::string_view("abc"));
    EXPECT_EQ(sum.hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_FALSE(sha256_of_file("/no/such/file"));
}

TEST(Process, ArgumentsReachTheProgramAsTheyAre) {
    auto result = run_process({"printf", "%s|", "a b", "$HOME", "'\";\n"});
    ASSERT_TRUE(result) << result.error().what;
    EXPECT_EQ(result->exit_code, 0);
    EXPECT_EQ(result->output, "a b|$HOME|'\";\n|");
}

TEST(Process, TellsHowItEnded) {
    auto failed = run_process({"sh", "-c", "echo out; echo err >&2; exit 3"});
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->exit_code, 3);
    EXPECT_EQ(failed->output, "out\nerr\n");
    auto killed = run_process({"sh", "-c", "kill -9 $$"});
    ASSERT_TRUE(killed);
    EXPECT_EQ(killed->exit_code, 128 + 9);
    auto missing = run_process({"no-such-program-here"});
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, Code::not_found);
}

TEST(Process, KeepsTheEndOfALongOutput) {
    auto result = run_process({"sh", "-c", "head -c 100000 /dev/zero | tr '\\0' x; echo end"});
    ASSERT_TRUE(result);
    EXPECT_LE(result->output.size(), 8192u);
    EXPECT_TRUE(result->output.ends_with("xend\n"));
}

TEST(FileLock, IsHeldByOneAtATime) {
    std::string dir = fresh_dir("lock");
    auto first = FileLock::take(dir + "/lock");
    ASSERT_TRUE(first) << first.error().what;
    std::atomic<bool> second_has_it = false;
    std::thread waiter([&] {
        auto second = FileLock::take(dir + "/lock");
        second_has_it = static_cast<bool>(second);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_FALSE(second_has_it);
    first->reset();
    waiter.join();
    EXPECT_TRUE(second_has_it);
    EXPECT_FALSE(FileLock::take(dir + "/no/lock"));
    fs::remove_all(dir);
}

// Names and the cache, in a cache folder of their own.
class Names : public testing::Test {
  protected:
    void TearDown() override { fs::remove_all(dir_); }
    std::string dir_ = fresh_dir(testing::UnitTest::GetInstance()->current_test_info()->name());
    std::string models_ = dir_ + "/transcribe/models";
    ScopedEnv cache_{"XDG_CACHE_HOME", dir_};
    ScopedEnv no_proxy_{"no_proxy", local_host};
    PullOptions offline_{.on_progress = {}, .offline = true};
};

TEST_F(Names, ManifestIsPinned) {
    ASSERT_NE(find_model_spec(default_model), nullptr);
    EXPECT_EQ(find_model_spec("large"), find_model_spec("large-v3"));
    EXPECT_EQ(find_model_spec(""), nullptr);
    for (const ModelSpec& spec : model_specs()) {
        EXPECT_EQ(find_model_spec(spec.name), &spec);
        bool has_hub = spec.hub.repo[0] != '\0';
        EXPECT_TRUE(has_hub || spec.pip) << spec.name;
        EXPECT_EQ(std::string(spec.hub.sha256).size(), has_hub ? 64u : 0u) << spec.name;
        EXPECT_EQ(std::string(spec.hub.revision).size(), has_hub ? 40u : 0u) << spec.name;
        if (has_hub) {
            EXPECT_NEAR(spec.size_mb, 2 * spec.n_mparams, 0.1 * spec.size_mb) << spec.name;
        }
        if (!spec.pip) continue;
        for (const PackedFile& file : spec.pip->files) {
            EXPECT_EQ(std::string(file.sha256).size(), 64u) << spec.name << " " << file.name;
        }
    }
}

TEST_F(Names, AnExistingFileWins) {
    write_file(dir_ + "/base", "x");
    auto path = resolve_model(dir_ + "/base", offline_);
    ASSERT_TRUE(path) << path.error().what;
    EXPECT_EQ(*path, dir_ + "/base");
}

TEST_F(Names, ACachedModelNeedsNoNetwork) {
    auto missing = resolve_model("large", offline_);
    ASSERT_FALSE(missing);
    EXPECT_NE(missing.error().what.find("transcribe pull large-v3"), std::string::npos)
        << missing.error().what;
    write_file(models_ + "/large-v3-f16.gguf", "x");
    auto path = resolve_model("large", offline_);
    ASSERT_TRUE(path) << path.error().what;
    EXPECT_EQ(*path, models_ + "/large-v3-f16.gguf");
    auto entries = list_models();
    ASSERT_TRUE(entries);
    for (const ModelEntry& entry : *entries) {
        EXPECT_EQ(entry.cached, std::string(entry.spec->name) == "large-v3") << entry.spec->name;
    }
}

TEST_F(Names, AModelOfTheUsersOwnHasAName) {
    write_file(models_ + "/my-voice.gguf", "x");
    auto path = resolve_model("my-voice", offline_);
    ASSERT_TRUE(path) << path.error().what;
    EXPECT_EQ(*path, models_ + "/my-voice.gguf");
}

TEST_F(Names, AnUnknownNameIsToldTheKnownOnes) {
    auto name = resolve_model("enormous", offline_);
    ASSERT_FALSE(name);
    EXPECT_EQ(name.error().code, Code::not_found);
    EXPECT_NE(name.error().what.find("tiny.en, base"), std::string::npos) << name.error().what;
    auto path = resolve_model("some/where.gguf", offline_);
    ASSERT_FALSE(path);
    EXPECT_NE(path.error().what.find("some/where.gguf does not exist"), std::string::npos)
        << path.error().what;
}

TEST_F(Names, WithoutASourceTheMessageSaysWhatToDo) {
    ScopedEnv hub("TRANSCRIBE_HUB", "http://127.0.0.1:1");
    auto path = pull("tiny");  // has no packages, so that no pip runs here
    ASSERT_FALSE(path);
    EXPECT_EQ(path.error().code, Code::io);
    EXPECT_NE(path.error().what.find("transcribe convert"), std::string::npos) << path.error().what;
    EXPECT_FALSE(fs::exists(models_ + "/tiny-f16.gguf"));
}

TEST(Env, TheTableOfTheDocsIsTheTableOfTheCode) {
    std::string docs = read_file(std::string(TESTS_DIR) + "/../docs/ENVIRONMENT.md");
    ASSERT_FALSE(docs.empty());
    for (const VarInfo& info : env_table()) {
        std::string row = std::string("| `") + info.name + "` | " + info.meaning + " |";
        EXPECT_NE(docs.find(row), std::string::npos) << "docs/ENVIRONMENT.md lacks: " << row;
    }
}

TEST(Env, AnEmptyVariableIsNotSet) {
    ScopedEnv empty("TRANSCRIBE_HUB", "");
    EXPECT_FALSE(env(Var::hub));
    ScopedEnv set("TRANSCRIBE_HUB", "x");
    EXPECT_EQ(env(Var::hub), "x");
}

}  // namespace
}  // namespace transcribe
