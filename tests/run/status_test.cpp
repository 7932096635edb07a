// SPDX-License-Identifier: Apache-2.0
// The status file of a run: what it says, how often it is written, and how a run ends in it.
#include "run/status.hpp"

#include "io/input_folder.hpp"
#include "io/scratch_file.hpp"
#include "run/short_run.hpp"

#include <chrono>
#include <ctime>
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace parhelion {
namespace {

using testing::HasSubstr;

StatusFile::Clock::time_point after(double seconds)
{
    return StatusFile::Clock::time_point(
        std::chrono::duration_cast<StatusFile::Clock::duration>(std::chrono::duration<double>(seconds)));
}

const ProgressValues at_300_k{.temperature = 300.5, .pressure = {}, .density = {}, .potential = {}, .largest_force = {}};

TEST(Status, says_how_far_a_run_is)
{
    const ScratchFile file("md.status.json");
    StatusFile status(file.path());
    status.begin(0.002, 1000, 9000, after(0));
    EXPECT_EQ(read_status(file.path()).progress.steps_done, 1000);
    ASSERT_TRUE(status.update(2000, 9000, at_300_k, after(10))); // 100 steps/s of 2 fs
    EXPECT_EQ(status.write(status.pending()), "");
    const RunStatus read = read_status(file.path());
    EXPECT_EQ(read.state, RunState::Running);
    EXPECT_EQ(read.progress.steps_done, 2000);
    EXPECT_EQ(read.progress.steps_total, 9000);
    EXPECT_NEAR(*read.progress.ns_per_day, 17.28, 1e-9);
    EXPECT_NEAR(*read.progress.left, 70, 1e-9);
    EXPECT_EQ(read.progress.time, 4);
    EXPECT_EQ(read.progress.values.temperature, 300.5);
    EXPECT_FALSE(read.progress.values.pressure);
    EXPECT_EQ(read.pid, ::getpid());
    EXPECT_LE(std::abs(read.updated - std::time(nullptr)), 5);
    EXPECT_EQ(progress_text(read.progress), " 22 %  step 2000/9000  4 ps  300.5 K  17.28 ns/day  ETA 1 min 10 s");
    EXPECT_EQ(doubt_about(read, read.updated).text, "");
    status.end(RunState::Done);
    EXPECT_EQ(read_status(file.path()).state, RunState::Done);
}

TEST(Status, is_written_once_a_second_at_most_and_never_twice_at_a_time)
{
    const ScratchFile file("md.status.json");
    StatusFile status(file.path());
    status.begin(0.002, 0, -1, after(0));
    int written = 0;
    for (int i = 1; i <= 1000; ++i)
    {
        if (!status.update(i, -1, at_300_k, after(0.01 * i))) { continue; }
        ++written;
        EXPECT_FALSE(status.update(i, -1, at_300_k, after(0.01 * i + 1.5))); // while it is being written
        EXPECT_EQ(status.write(status.pending()), "");
    }
    EXPECT_EQ(written, 10);
    EXPECT_LT(file.text().size(), 500u);
    EXPECT_THAT(file.text(), HasSubstr("\"steps\": null"));
    status.end(RunState::Done);
}

TEST(Status, that_cannot_be_written_is_told_once)
{
    const InputFolder folder;
    const std::string path = (folder.path() / "md.status.json").string();
    StatusFile status(path);
    status.begin(0.002, 0, 100, after(0));
    std::filesystem::remove(path);
    std::filesystem::create_directories(path + "/taken");
    EXPECT_TRUE(status.update(1, 100, at_300_k, after(2)));
    EXPECT_THAT(status.write(status.pending()), HasSubstr("md.status.json"));
    EXPECT_TRUE(status.update(2, 100, at_300_k, after(4)));
    EXPECT_EQ(status.write(status.pending()), "");
    status.end(RunState::Done);
}

TEST(Status, of_a_process_that_is_gone_or_silent_is_doubted)
{
    const ScratchFile file("md.status.json");
    StatusFile status(file.path());
    status.begin(0.002, 0, 100, after(0));
    RunStatus read = read_status(file.path());
    EXPECT_THAT(doubt_about(read, read.updated + 125).text, HasSubstr("no news for 2 min 05 s"));
    EXPECT_FALSE(doubt_about(read, read.updated + 125).is_over);
    const pid_t child = ::fork();
    if (child == 0) { ::_exit(0); }
    ::waitpid(child, nullptr, 0);
    read.pid = child;
    EXPECT_TRUE(doubt_about(read, read.updated).is_over);
    read.host = "elsewhere";
    EXPECT_EQ(doubt_about(read, read.updated).text, "");
    read.state = RunState::Stopped;
    EXPECT_EQ(doubt_about(read, read.updated + 1000).text, "");
    status.end(RunState::Done);
}

TEST(Status, that_is_none_is_refused)
{
    const InputFolder folder;
    for (const char* text : {"", "{}", "[]", R"({"state": "asleep", "step": 1})", R"({"state": "done", "step": "x"})",
                             R"({"state": "done", "step": 1, "steps": 2, "updated": 5, "pid": 1, "host": "h"})",
                             R"({"state": "done", "step": 1, "steps": 2, "left_s": "x", "updated": "", "pid": 1, "host": "h"})"})
    {
        const auto path = folder.write("md.status.json", text);
        expect_refused([&] { static_cast<void>(read_status(path)); }, "E186", "md.status.json", 0, "not the status");
    }
}

TEST(Status, of_a_whole_run_ends_as_the_run_does)
{
    ShortRun run;
    run.request.length.steps = 20;
    run.go();
    const std::string path = run.request.output.prefix + ".status.json";
    RunStatus read = read_status(path);
    EXPECT_EQ(read.state, RunState::Done);
    EXPECT_EQ(read.progress.steps_done, 20);
    EXPECT_EQ(read.progress.steps_total, 20);
    run.request.length.steps = 60;
    run.stop = true;
    run.go();
    EXPECT_EQ(read_status(path).state, RunState::Stopped);
    struct Thrower final : RunObserver
    {
        void energies(const RunEnergies&) override { throw SystemError("no room"); }
    } thrower;
    run.stop = false;
    EXPECT_THROW(run.go(thrower), SystemError);
    read = read_status(path);
    EXPECT_EQ(read.state, RunState::Failed);
    EXPECT_THAT(read.error, HasSubstr("no room"));
    run.go();
    EXPECT_EQ(read_status(path).state, RunState::Done);
}

} // namespace
} // namespace parhelion
