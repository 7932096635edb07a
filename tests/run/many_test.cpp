// SPDX-License-Identifier: Apache-2.0
// Many runs in one process, through src/run alone: their bits, turns, failures and stops.
#include "run/many.hpp"

#include "base/error.hpp"
#include "device/device_memory_error.hpp"
#include "run/short_run.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <latch>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace parhelion {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Notes events of runs in their order, and calls a function once for each run, in its first steps.
class Listener final : public ManyObserver
{
public:
    explicit Listener(
        std::size_t runs, std::function<void(std::size_t run)> at_progress = [](std::size_t) {})
        : at_progress_(std::move(at_progress))
    {
        for (std::size_t run = 0; run < runs; ++run) { runs_.emplace_back(*this, run); }
    }
    RunObserver& of(std::size_t run) override { return runs_[run]; }
    void starts(std::size_t run, int gpu) override
    {
        EXPECT_EQ(gpu, -1);
        note("starts", run, 1);
    }
    void waits(std::size_t run, const std::string& why) override
    {
        note("waits", run, -1);
        reason = why;
    }
    void ended(std::size_t run, const ManyOutcome&) override { note("ended", run, -1); }

    std::vector<std::string> events;
    std::string reason;
    int most_at_once = 0;

private:
    struct One final : RunObserver
    {
        One(Listener& listener, std::size_t number) : all(listener), run(number) {}
        void progress(const RunProgress&) override
        {
            if (!std::exchange(is_told, true)) { all.at_progress_(run); }
        }
        Listener& all;
        const std::size_t run;
        bool is_told = false;
    };

    void note(const std::string& event, std::size_t run, int change)
    {
        const std::scoped_lock lock(mutex_);
        events.push_back(event + " " + std::to_string(run));
        at_once_ += change;
        most_at_once = std::max(most_at_once, at_once_);
    }

    const std::function<void(std::size_t)> at_progress_;
    std::mutex mutex_;
    int at_once_ = 0;
    std::deque<One> runs_;
};

ManyRequest request_of(const std::vector<ShortRun*>& runs, int at_once)
{
    ManyRequest request;
    request.at_once = at_once;
    for (ShortRun* const run : runs)
    {
        run->request.length.steps = 50;
        request.runs.push_back(run->request);
    }
    return request;
}

TEST(ManyRuns, have_the_bits_that_each_has_alone)
{
    ShortRun alone_a, alone_b("spce", "tcoupl = nose-hoover\n pcoupl = no\n"), a,
        b("spce", "tcoupl = nose-hoover\n pcoupl = no\n");
    for (ShortRun* const run : {&alone_a, &alone_b})
    {
        run->request.length.steps = 50;
        run->go();
    }
    std::latch both(2); // from then on both take steps
    Listener listener(2, [&](std::size_t) { both.arrive_and_wait(); });
    std::atomic<bool> stop = false;
    const std::vector<ManyOutcome> outcomes = run_many(request_of({&a, &b}, 2), listener, stop);
    for (const ManyOutcome& outcome : outcomes)
    {
        EXPECT_EQ(outcome.end, ManyEnd::Done);
        EXPECT_EQ(outcome.result.reached, 50);
    }
    expect_same(a, alone_a);
    expect_same(b, alone_b);
}

TEST(ManyRuns, wait_for_their_turn_in_their_order)
{
    ShortRun a, b, c;
    Listener listener(3);
    std::atomic<bool> stop = false;
    run_many(request_of({&a, &b, &c}, 1), listener, stop);
    EXPECT_EQ(listener.most_at_once, 1);
    EXPECT_THAT(listener.events, ElementsAre("starts 0", "ended 0", "starts 1", "ended 1", "starts 2", "ended 2"));
}

TEST(ManyRuns, go_on_when_one_fails)
{
    ShortRun a, broken, c;
    broken.request.input.files.topology = "nowhere.top";
    Listener listener(3);
    std::atomic<bool> stop = false;
    const std::vector<ManyOutcome> outcomes = run_many(request_of({&a, &broken, &c}, 2), listener, stop);
    EXPECT_EQ(outcomes[0].end, ManyEnd::Done);
    EXPECT_EQ(outcomes[1].end, ManyEnd::Failed);
    EXPECT_EQ(outcomes[2].end, ManyEnd::Done);
    EXPECT_THROW(std::rethrow_exception(outcomes[1].error), InputError);
    EXPECT_FALSE(stop);
}

TEST(ManyRuns, are_all_ended_by_one_stop_and_go_on_to_the_same_bits)
{
    ShortRun through, a, b, c;
    through.request.length.steps = 50;
    through.go();
    std::atomic<bool> stop = false;
    std::latch both(2);
    Listener listener(3, [&](std::size_t) {
        both.arrive_and_wait();
        stop = true;
    });
    const ManyRequest request = request_of({&a, &b, &c}, 2);
    const std::vector<ManyOutcome> first = run_many(request, listener, stop);
    for (const std::size_t begun : {0, 1})
    {
        EXPECT_EQ(first[begun].end, ManyEnd::Stopped);
        EXPECT_LT(first[begun].result.reached, 50);
    }
    EXPECT_EQ(first[2].end, ManyEnd::NotBegun);
    EXPECT_EQ(c.text(".log"), "");

    stop = false;
    Listener again(3);
    for (const ManyOutcome& outcome : run_many(request, again, stop)) { EXPECT_EQ(outcome.end, ManyEnd::Done); }
    for (const ShortRun* const run : {&a, &b, &c}) { expect_same(*run, through); }
    EXPECT_THAT(a.text(".log"), HasSubstr("continuing at step"));
}

// A run for which a GPU has too little memory beside another one begins again when that one has ended.
TEST(ManyRuns, wait_for_memory_until_another_run_has_ended)
{
    ShortRun a, b;
    std::latch b_has_failed(1), a_goes_on(1);
    Listener listener(2, [&](std::size_t run) {
        if (run == 0)
        {
            a_goes_on.count_down();
            b_has_failed.wait();
            return;
        }
        a_goes_on.wait();
        b_has_failed.count_down();
        throw DeviceMemoryError("cudaMalloc: out of memory");
    });
    std::atomic<bool> stop = false;
    const std::vector<ManyOutcome> outcomes = run_many(request_of({&a, &b}, 2), listener, stop);
    EXPECT_EQ(outcomes[0].end, ManyEnd::Done);
    EXPECT_EQ(outcomes[1].end, ManyEnd::Done);
    EXPECT_EQ(std::count(listener.events.begin(), listener.events.end(), "starts 1"), 2);
    EXPECT_THAT(listener.events, testing::Contains("waits 1"));
    EXPECT_THAT(std::vector(listener.events.end() - 3, listener.events.end()), ElementsAre("ended 0", "starts 1", "ended 1"));
    EXPECT_THAT(listener.reason, HasSubstr("1 run at a time"));
}

TEST(ManyRuns, fail_for_memory_when_they_are_alone)
{
    ShortRun a;
    Listener listener(1, [](std::size_t) { throw DeviceMemoryError("cudaMalloc: out of memory"); });
    std::atomic<bool> stop = false;
    const std::vector<ManyOutcome> outcomes = run_many(request_of({&a}, 0), listener, stop);
    EXPECT_EQ(outcomes[0].end, ManyEnd::Failed);
    EXPECT_THAT(listener.events, ElementsAre("starts 0", "ended 0"));
}

TEST(ManyRuns, are_refused_before_any_begins)
{
    const auto id_of = [](const ManyRequest& request) -> std::string {
        Listener listener(request.runs.size());
        std::atomic<bool> stop = false;
        try
        {
            run_many(request, listener, stop);
        }
        catch (const InputError& error)
        {
            EXPECT_TRUE(listener.events.empty());
            return error.id();
        }
        return "";
    };
    ShortRun a, b;
    ManyRequest request = request_of({&a, &b}, 0);
    request.runs[1].output.prefix = request.runs[0].output.prefix;
    EXPECT_EQ(id_of(request), "E221");
    request = request_of({&a, &b}, 0);
    for (RunRequest& run : request.runs) { run.placement.ranks = 2, run.placement.processes = 2; }
    EXPECT_EQ(id_of(request), "E010");
    EXPECT_FALSE(std::filesystem::exists(a.request.output.prefix + ".log"));
}

TEST(ManyRuns, share_cores_so_that_none_is_shared)
{
    const CoresOfRuns three = share_cores_among_runs({0, 1, 2, 3, 8, 9, 10, 11}, 8, 3, 0, 0);
    EXPECT_EQ(three.at_once, 3);
    EXPECT_EQ(three.threads, 2);
    EXPECT_THAT(three.cores, ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3, 8), ElementsAre(9, 10, 11)));
    const CoresOfRuns many = share_cores_among_runs({4, 5}, 2, 16, 0, 0); // no more at a time than there are cores
    EXPECT_EQ(many.at_once, 2);
    EXPECT_EQ(many.threads, 1);
    EXPECT_THAT(many.cores, ElementsAre(ElementsAre(4), ElementsAre(5)));
    EXPECT_EQ(share_cores_among_runs({0, 1, 2, 3}, 4, 16, 0, 2).at_once, 2); // of two threads each
    EXPECT_EQ(share_cores_among_runs({0, 1, 2, 3}, 2, 16, 0, 0).at_once, 2); // processor time for two of four cores
    const CoresOfRuns forced = share_cores_among_runs({4, 5}, 2, 16, 4, 0);
    EXPECT_EQ(forced.threads, 1);
    EXPECT_THAT(forced.cores, ElementsAre(ElementsAre(4), ElementsAre(4), ElementsAre(5), ElementsAre(5)));
}

TEST(ManyRuns, take_their_files_from_their_folders)
{
    const InputFolder folder;
    RunRequest request;
    request.input.files.mdp = "md.mdp";
    request.input.files.structure = "/elsewhere/conf.gro";
    request.output.prefix = "md";
    const RunRequest moved = in_folder(request, folder.path());
    EXPECT_EQ(moved.input.files.mdp, folder.path() / "md.mdp");
    EXPECT_EQ(moved.input.files.structure, "/elsewhere/conf.gro");
    EXPECT_TRUE(moved.input.files.index.empty());
    EXPECT_EQ(moved.output.prefix, folder.path() / "md");
    EXPECT_TRUE(moved.output.trace.empty());
    try
    {
        in_folder(request, folder.path() / "nowhere");
        ADD_FAILURE() << "a folder was found";
    }
    catch (const InputError& error)
    {
        EXPECT_EQ(error.id(), "E220");
    }
}

} // namespace
} // namespace parhelion
