// SPDX-License-Identifier: Apache-2.0
#include "io/output/output.hpp"

#include "base/error.hpp"
#include "io/scratch_file.hpp"
#include "io/trajectory_samples.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <thread>

namespace parhelion {
namespace {

using testing::HasSubstr;
using testing::Property;
using testing::Throws;

// Files of this process cannot grow beyond `bytes` meanwhile: what a full disk looks like.
class FileSizeLimit
{
public:
    explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN))
    {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileSizeLimit()
    {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

private:
    rlimit before_{};
    void (*handler_)(int);
};

TEST(OutputFile, is_cut_back_to_its_last_whole_record_when_the_disk_is_full)
{
    const ScratchFile scratch("o");
    OutputFile file(scratch.path());
    file.append("first record;");
    file.finish_record();
    {
        const FileSizeLimit limit(30);
        file.append("second, begun;");
        EXPECT_THAT([&] { file.append("does not fit any more"); },
                    Throws<SystemError>(
                        Property(&SystemError::what,
                                 testing::AllOf(HasSubstr(scratch.path()), HasSubstr("File too large"), HasSubstr("errno 27")))));
    }
    EXPECT_EQ(scratch.text(), "first record;");
    file.append("third;");
    file.finish_record();
    file.close();
    EXPECT_EQ(scratch.text(), "first record;third;");
}

TEST(OutputFile, drops_an_unfinished_record_when_closed)
{
    const ScratchFile scratch("o");
    OutputFile file(scratch.path());
    file.append("whole;");
    file.finish_record();
    file.append("half");
    file.close();
    EXPECT_EQ(scratch.text(), "whole;");
}

TEST(OutputFile, names_the_file_that_cannot_be_created)
{
    EXPECT_THAT([] { OutputFile("/nonexistent-folder/md.xtc"); },
                Throws<SystemError>(
                    Property(&SystemError::what, testing::AllOf(HasSubstr("/nonexistent-folder/md.xtc"), HasSubstr("open")))));
}

TEST(OutputThread, runs_jobs_in_order_and_close_waits_for_them)
{
    std::vector<int> order;
    OutputThread thread(2);
    for (int i = 0; i < 100; ++i)
    {
        thread.enqueue([i, &order] { order.push_back(i); });
    }
    thread.close();
    ASSERT_EQ(order.size(), 100u);
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(OutputThread, makes_the_caller_wait_when_the_queue_is_full)
{
    std::atomic<bool> gate{false};
    std::atomic<int> begun{0};
    std::atomic<int> handed_over{0};
    OutputThread thread(2);
    std::thread caller([&] {
        for (int i = 0; i < 10; ++i)
        {
            thread.enqueue([&] {
                ++begun;
                gate.wait(false);
            });
            ++handed_over;
        }
    });
    while (begun == 0 || handed_over < 3) { std::this_thread::yield(); } // one runs, two wait
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(handed_over, 3);
    gate = true;
    gate.notify_all();
    caller.join();
    thread.close();
    EXPECT_EQ(begun, 10);
}

TEST(OutputThread, throws_a_jobs_error_at_the_next_hand_over_and_at_close_and_runs_no_more)
{
    std::atomic<bool> ran_after{false};
    OutputThread thread(3);
    thread.enqueue([] { throw SystemError("md.xtc  write failed: No space left on device"); });
    const auto hand_over_many = [&] {
        for (int i = 0; i < 100000; ++i)
        {
            thread.enqueue([&] { ran_after = true; });
            std::this_thread::yield();
        }
    };
    EXPECT_THROW(hand_over_many(), SystemError);
    EXPECT_THROW(thread.enqueue([] {}), SystemError);
    EXPECT_THROW(thread.close(), SystemError);
    EXPECT_FALSE(ran_after);
}

TEST(OutputThread, an_error_of_the_last_job_is_not_lost)
{
    OutputThread thread;
    thread.enqueue([] { throw SystemError("late"); });
    EXPECT_THROW(thread.close(), SystemError);
}

Frame frame_at(std::int64_t step)
{
    Frame frame;
    frame.step = step;
    frame.time = 0.002 * static_cast<double>(step);
    frame.box = {3, 3, 3};
    frame.x = samples::water(20, 1);
    frame.v = samples::random_points(60, -1, 1, 2);
    return frame;
}

TEST(RunOutput, sends_each_array_where_it_is_due)
{
    const ScratchFile xtc("r.xtc"), trr("r.trr");
    RunOutputPlan plan;
    plan.xtc = xtc.path();
    plan.trr = trr.path();
    RunOutput output(plan);
    output.write(frame_at(0), {.compressed = true, .x = true, .v = true});
    output.write(frame_at(10), {.compressed = true});
    output.write(frame_at(20), {.compressed = true, .v = true}); // x is there for the .xtc alone
    output.close();

    const auto compressed = xtc.bytes();
    XtcReader reader(compressed, xtc.path());
    XtcFrame frame;
    for (const int step : {0, 10, 20})
    {
        ASSERT_TRUE(reader.read(frame));
        EXPECT_EQ(frame.step, step);
    }
    EXPECT_FALSE(reader.read(frame));
    const std::size_t header = 24 + 13 * 4 + 2 * 4 + 36, array = 60 * 12;
    EXPECT_EQ(trr.bytes().size(), 2 * header + 3 * array);
}

TEST(RunOutput, reports_a_full_disk_and_leaves_whole_frames)
{
    const ScratchFile xtc("full.xtc");
    RunOutputPlan plan;
    plan.xtc = xtc.path();
    RunOutput output(plan);
    const auto simulate = [&] {
        for (int step = 0; step < 100; ++step) { output.write(frame_at(step), {.compressed = true}); }
        output.close();
    };
    {
        const FileSizeLimit limit(1000);
        EXPECT_THAT(simulate, Throws<SystemError>(Property(&SystemError::what, HasSubstr(xtc.path()))));
        EXPECT_THROW(output.close(), SystemError);
    }
    const auto bytes = xtc.bytes();
    XtcReader reader(bytes, xtc.path());
    XtcFrame frame;
    int frames = 0;
    while (reader.read(frame)) { EXPECT_EQ(frame.step, frames++); }
    EXPECT_GT(frames, 0);
}

TEST(RunOutput, writes_energies)
{
    const ScratchFile edr("r.edr");
    RunOutputPlan plan;
    plan.edr = edr.path();
    plan.energy_terms = {"Potential"};
    plan.dt = 0.002;
    RunOutput output(plan);
    TermAverages block(1);
    block.add(std::vector<double>{-5.0});
    output.write_energies(0, 0.0, {-5.0}, block);
    output.close();
    EXPECT_EQ(edr.bytes().size(), 12u + 16 + 12 + 76 + 8);
}

} // namespace
} // namespace parhelion
