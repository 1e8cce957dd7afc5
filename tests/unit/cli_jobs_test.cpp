// Many files (apps/cli): which are found, what each becomes, what a run says at its end.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "../tmp.h"
#include "cli/inputs.h"
#include "cli/jobs.h"
#include "cli/tally.h"

namespace transcribe::cli {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class Jobs : public testing::Test {
  protected:
    void SetUp() override {
        fs::remove_all(root_);
        for (const char* name :
             {"in/b.wav", "in/a.MP3", "in/notes.txt", "in/cover.jpg", "in/.hidden.wav",
              "in/2024/may/a.mp4", "in/2024/b.opus", "in/.git/x.wav", "in/talk.tar.gz"}) {
            touch(name);
        }
        fs::create_directories(root_ / "empty");
        fs::create_directory_symlink(root_ / "in", root_ / "in/2024/loop");
    }
    void TearDown() override { fs::remove_all(root_); }

    std::string path(const std::string& name) const { return (root_ / name).string(); }
    void touch(const std::string& name, const std::string& text = "x") const {
        fs::create_directories((root_ / name).parent_path());
        std::ofstream(root_ / name) << text;
    }
    TranscribeArgs args(Names files, Names formats = {"txt"}) const {
        TranscribeArgs out;
        out.files = std::move(files);
        out.output_dir = path("out");
        for (const std::string& name : formats) out.formats.push_back(find_writer(name));
        return out;
    }
    // Stems below the output folder.
    Names stems(const TranscribeArgs& args) const {
        Names out;
        const auto jobs = plan(args);
        if (!jobs) return {jobs.error().what};
        for (const Job& job : *jobs) {
            out.push_back(fs::path(job.stem).lexically_relative(args.output_dir).string());
        }
        return out;
    }

  private:
    fs::path root_ = fs::path(test::tmp_folder()) / "cli_jobs";
};

TEST_F(Jobs, AFolderGivesItsRecordingsSortedWithTheirSubfolders) {
    EXPECT_EQ(stems(args({path("in")})), (Names{"2024/b", "2024/may/a", "a", "b"}));
    EXPECT_EQ(stems(args({path("in") + "/"})), (Names{"2024/b", "2024/may/a", "a", "b"}));
}

TEST_F(Jobs, FilesAndFoldersStayInTheOrderGiven) {
    EXPECT_EQ(stems(args({path("in/notes.txt"), path("in/2024"), path("in/a.MP3")}, {"srt"})),
              (Names{"notes", "b", "may/a", "a"}));
}

TEST_F(Jobs, AFolderWithoutRecordingsIsAFaultOfItsOwn) {
    const auto jobs = plan(args({path("empty"), path("in/b.wav")}));
    ASSERT_TRUE(jobs) << jobs.error().what;
    ASSERT_EQ(jobs->size(), 2u);
    ASSERT_TRUE((*jobs)[0].fault);
    EXPECT_NE((*jobs)[0].fault->what.find("no audio or video"), std::string::npos);
    EXPECT_FALSE(check_job((*jobs)[0], args({})));
    EXPECT_TRUE(check_job((*jobs)[1], args({})));
}

TEST_F(Jobs, TwoInputsOfOneOutputAreRefused) {
    touch("in/b.flac");
    const auto jobs = plan(args({path("in")}));
    ASSERT_FALSE(jobs);
    EXPECT_NE(jobs.error().what.find("b.flac"), std::string::npos) << jobs.error().what;
    EXPECT_NE(jobs.error().what.find("b.wav"), std::string::npos) << jobs.error().what;
    EXPECT_FALSE(fs::exists(path("out")));
}

TEST_F(Jobs, AListNamesMoreInputs) {
    TranscribeArgs with_list = args({path("in/b.wav")});
    with_list.files_from = path("list.txt");
    touch("other/c.wav");
    touch("list.txt", path("in/a.MP3") + "\r\n\n" + path("other") + "\n");
    EXPECT_EQ(stems(with_list), (Names{"b", "a", "c"}));
    EXPECT_EQ(names_of_list("a b\nc\r\n\nd"), (Names{"a b", "c", "d"}));
    EXPECT_EQ(names_of_list(std::string_view("a\nb\0c\0", 6)), (Names{"a\nb", "c"}));
    EXPECT_EQ(names_of_list(" \n\n"), Names{});
    touch("list.txt", "\n");
    with_list.files.clear();
    EXPECT_EQ(plan(with_list).error().code, Code::invalid_argument);
    with_list.files_from = path("missing.txt");
    EXPECT_EQ(plan(with_list).error().code, Code::not_found);
}

TEST_F(Jobs, AreDoneWhenAllTheirFilesExist) {
    const TranscribeArgs both = args({path("in/b.wav")}, {"srt", "json"});
    const auto jobs = plan(both);
    ASSERT_TRUE(jobs);
    const Job& job = (*jobs)[0];
    EXPECT_EQ(output_path(job, *find_writer("srt")), path("out/b.srt"));
    EXPECT_EQ(partial_path(job, *find_writer("srt")), path("out/b.partial.srt"));
    EXPECT_FALSE(is_done(job, both));
    touch("out/b.srt");
    touch("out/b.partial.json");
    EXPECT_FALSE(is_done(job, both));
    touch("out/b.json");
    EXPECT_TRUE(is_done(job, both));
}

TEST(Tally, TheExitCodeSaysWhetherSomethingWasDone) {
    Tally all(2);
    all.done(0);
    all.done(1);
    EXPECT_EQ(all.code(), exit_done);
    EXPECT_EQ(all.failures(), "");
    Tally some(3);
    some.done(0);
    some.fail(2, "c\n.wav", exit_audio);
    EXPECT_EQ(some.code(), exit_some_failed);
    EXPECT_EQ(some.failures(), "1 of 3 inputs failed: c\\x0a.wav");
    Tally none(2);
    none.fail(0, "a", exit_audio);
    none.fail(1, "b", exit_audio);
    EXPECT_EQ(none.code(), exit_audio);
    Tally mixed(2);
    mixed.fail(0, "a", exit_audio);
    mixed.fail(1, "b", exit_inference);
    EXPECT_EQ(mixed.code(), exit_some_failed);
    Tally resumed(2);
    resumed.skip(0);
    resumed.fail(1, "b", exit_audio);
    EXPECT_EQ(resumed.code(), exit_some_failed);
    EXPECT_EQ(resumed.skips(), "1 of 2 inputs skipped: their files exist");
    Tally alone(1);
    alone.fail(0, "a", exit_model);
    EXPECT_EQ(alone.failures(), "");
}

TEST(Tally, ManyFailuresAreCountedAndSomeNamed) {
    Tally tally(100);
    for (size_t i = 0; i < 50; i++) tally.fail(i, "f" + std::to_string(i), exit_audio);
    EXPECT_NE(tally.failures().find("f19 and 30 more"), std::string::npos) << tally.failures();
}

TEST(Tally, TheTotalIsKnownWhenEveryLengthIs) {
    Tally tally(4);
    tally.skip(0);
    tally.expect(1, 60);
    tally.expect(2, 0.0);
    tally.expect(3, std::nullopt);
    tally.progress(1, 30, 61);
    EXPECT_EQ(tally.done_s(), 30);
    EXPECT_EQ(tally.total_s(), 0);
    tally.done(1);
    tally.progress(2, 10, 40);
    EXPECT_EQ(tally.done_s(), 71);
    EXPECT_EQ(tally.total_s(), 101);
    tally.fail(2, "c", exit_audio);
    EXPECT_EQ(tally.total_s(), 61);
}

}  // namespace
}  // namespace transcribe::cli
