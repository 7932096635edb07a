// SPDX-License-Identifier: Apache-2.0
// Runs through src/run alone: begun, stopped, continued, several at a time, and what their observers hear.
#include "base/error.hpp"
#include "run/run.hpp"

#include "run/short_run.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace parhelion {
namespace {

using testing::HasSubstr;

// Lets another thread raise `stop` once a step is reached, and waits for that, so that the run cannot end before.
class StopFromElsewhere final : public RunObserver
{
public:
    explicit StopFromElsewhere(std::atomic<bool>& stop, std::int64_t at = 50)
        : stop_(stop), at_(at), thread_([this] {
              reached_.wait(false);
              stop_ = true;
              stop_.notify_all();
          })
    {
    }
    ~StopFromElsewhere() override
    {
        reached_ = true;
        reached_.notify_all();
    }
    void progress(const RunProgress& now) override
    {
        if (now.steps_done < at_) { return; }
        reached_ = true;
        reached_.notify_all();
        stop_.wait(false);
    }

private:
    std::atomic<bool>& stop_;
    const std::int64_t at_;
    std::atomic<bool> reached_ = false;
    std::jthread thread_; // last: uses the others
};

// Notes calls in their order, repeated ones once, and what they bring.
struct Listener : RunObserver
{
    std::vector<std::string> calls;
    std::vector<std::string> messages, warnings;
    std::string about;
    std::vector<std::string> names;
    std::vector<double> potentials;
    std::vector<std::int64_t> energy_steps, frame_steps;
    RunResult result;

    void note(const std::string& call)
    {
        if (calls.empty() || calls.back() != call) { calls.push_back(call); }
    }
    void warning(const std::string& line) override { warnings.push_back(line); }
    void message(const std::string& line) override { messages.push_back(line); }
    void prepared() override { note("prepared"); }
    void begins(const RunBegin& begin) override
    {
        note("begins");
        about = begin.text;
        EXPECT_EQ(begin.steps_total, 140);
        EXPECT_EQ(begin.dt, 0.002);
        EXPECT_EQ(begin.plan.ranks, 1);
    }
    void progress(const RunProgress&) override { note("progress"); }
    void frame(const Frame& frame) override
    {
        EXPECT_EQ(frame.x.size(), 3000);
        frame_steps.push_back(frame.step);
    }
    void energies(const RunEnergies& now) override
    {
        EXPECT_DOUBLE_EQ(now.time, 0.002 * static_cast<double>(now.step));
        ASSERT_EQ(now.names.size(), now.values.size());
        names.assign(now.names.begin(), now.names.end());
        const auto at = std::find(names.begin(), names.end(), "Potential") - names.begin();
        potentials.push_back(now.values[static_cast<std::size_t>(at)]);
        energy_steps.push_back(now.step);
    }
    void steps_over() override { note("steps_over"); }
    void ended(const RunResult& all) override
    {
        note("ended");
        result = all;
    }
};

TEST(Run, tells_its_observer_what_happens_in_order_and_prints_nothing)
{
    ShortRun run;
    Listener listener;
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const RunResult result = run.go(listener);
    EXPECT_EQ(testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr(), "");
    EXPECT_EQ(listener.calls, (std::vector<std::string>{"prepared", "begins", "progress", "steps_over", "ended"}));
    EXPECT_THAT(listener.about, HasSubstr("3000 atoms"));
    EXPECT_EQ(listener.warnings, std::vector<std::string>());
    EXPECT_TRUE(std::is_sorted(listener.energy_steps.begin(), listener.energy_steps.end()));
    EXPECT_EQ(listener.energy_steps.front(), 0);
    EXPECT_EQ(listener.energy_steps.back(), 140);
    EXPECT_EQ(listener.frame_steps,
              (std::vector<std::int64_t>{0, 10, 20, 30, 40, 45, 50, 60, 70, 80, 90, 100, 110, 120, 130, 135, 140}));
    EXPECT_EQ(result.end, RunEnd::Done);
    EXPECT_EQ(result.reached, 140);
    EXPECT_EQ(listener.result.reached, 140);
    EXPECT_EQ(to_json(result.report), run.text(".report.json"));
    double mean = 0;
    for (const double potential : listener.potentials) { mean += potential / static_cast<double>(listener.potentials.size()); }
    const auto& energies = result.report.energies;
    const auto reported =
        std::find_if(energies.begin(), energies.end(), [](const auto& term) { return term.first == "Potential"; });
    ASSERT_NE(reported, energies.end());
    EXPECT_NEAR(reported->second.mean, mean, 1e-10 * std::abs(mean)); // the same values, added in another order
}

TEST(Run, stopped_by_another_thread_leaves_a_checkpoint_from_which_it_goes_on_to_the_same_bits)
{
    ShortRun through, stopped;
    EXPECT_EQ(through.go().reached, 140);
    {
        StopFromElsewhere other(stopped.stop);
        const RunResult first = stopped.go(other);
        EXPECT_EQ(first.end, RunEnd::Stopped);
        EXPECT_GE(first.reached, 50);
        EXPECT_LT(first.reached, 140);
    }
    stopped.stop = false;
    Listener listener;
    EXPECT_EQ(stopped.go(listener).end, RunEnd::Done);
    ASSERT_EQ(listener.messages.size(), 1U);
    EXPECT_THAT(listener.messages[0], HasSubstr("continuing at step"));
    expect_same(stopped, through);
}

// It had the steps of the parameters instead.
TEST(Run, of_a_negative_number_of_steps_has_no_end)
{
    ShortRun run;
    run.request.length.steps = -1;
    StopFromElsewhere observer(run.stop, 200);
    const RunResult result = run.go(observer);
    EXPECT_EQ(result.end, RunEnd::Stopped);
    EXPECT_GE(result.reached, 200);
}

TEST(Run, that_is_complete_does_nothing)
{
    ShortRun run;
    run.go();
    const auto before = run.outputs();
    const std::string log = run.text(".log");
    Listener listener;
    const RunResult again = run.go(listener);
    EXPECT_TRUE(again.was_complete);
    EXPECT_EQ(again.reached, 140);
    EXPECT_EQ(listener.calls, std::vector<std::string>{"ended"});
    EXPECT_TRUE(run.outputs() == before && run.text(".log") == log);
}

// Waits at its first step until the other run is there, too: from then on both take steps.
struct Together final : RunObserver
{
    explicit Together(std::barrier<>& both) : both_(both) {}
    void progress(const RunProgress&) override
    {
        if (!std::exchange(has_met_, true)) { both_.arrive_and_wait(); }
    }

private:
    std::barrier<>& both_;
    bool has_met_ = false;
};

TEST(Run, has_the_same_bits_beside_another_one_of_the_same_process)
{
    ShortRun alone_a, alone_b("spce", "tcoupl = nose-hoover\n pcoupl = no\n"), a,
        b("spce", "tcoupl = nose-hoover\n pcoupl = no\n");
    for (ShortRun* of_ranks : {&alone_b, &b}) { of_ranks->request.placement.ranks = 2; }
    for (ShortRun* run : {&alone_a, &alone_b, &a, &b}) { run->request.length.steps = 50; }
    alone_a.go();
    alone_b.go();
    std::barrier both(2);
    Together at_a(both), at_b(both);
    std::jthread first([&] { EXPECT_EQ(a.go(at_a).end, RunEnd::Done); });
    std::jthread second([&] { EXPECT_EQ(b.go(at_b).end, RunEnd::Done); });
    first.join();
    second.join();
    expect_same(a, alone_a);
    expect_same(b, alone_b);
}

TEST(Run, refuses_the_files_of_one_that_goes_on_in_the_same_process)
{
    struct Intruder final : RunObserver
    {
        const RunRequest* request = nullptr;
        std::string id;
        void progress(const RunProgress&) override
        {
            if (!id.empty()) { return; }
            std::atomic<bool> stop = false;
            RunObserver silent;
            try
            {
                run_simulation(*request, silent, stop);
            }
            catch (const InputError& error)
            {
                id = error.id();
            }
        }
    };
    ShortRun run;
    Intruder intruder;
    intruder.request = &run.request;
    EXPECT_EQ(run.go(intruder).end, RunEnd::Done);
    EXPECT_EQ(intruder.id, "E193");
}

TEST(Run, ends_by_what_its_observer_throws_and_can_be_continued)
{
    struct Thrower final : RunObserver
    {
        void energies(const RunEnergies& now) override
        {
            if (now.step == 100) { throw std::domain_error("enough"); }
        }
    };
    ShortRun run, through;
    run.request.output.checkpoint_s = 0; // one at every rebuild of the list
    Thrower thrower;
    EXPECT_THROW(run.go(thrower), std::domain_error);
    EXPECT_THAT(run.text(".log"), HasSubstr("enough"));
    EXPECT_EQ(run.saved().step, 98);
    Listener listener;
    run.go(listener);
    ASSERT_FALSE(listener.messages.empty());
    EXPECT_THAT(listener.messages[0], HasSubstr("continuing at step 98 "));
    through.go();
    expect_same(run, through);
}

TEST(Run, tells_warnings_before_it_is_refused_for_them)
{
    ShortRun run("etoh", "tcoupl = berendsen\n pcoupl = no\n");
    Listener listener;
    try
    {
        run.go(listener);
        ADD_FAILURE() << "the run was made";
    }
    catch (const InputError& error)
    {
        EXPECT_EQ(error.id(), "E001");
        EXPECT_THAT(error.what(), HasSubstr("--allow W"));
    }
    ASSERT_EQ(listener.warnings.size(), 1U);
    EXPECT_THAT(listener.warnings[0], testing::StartsWith("warning: W"));
    EXPECT_FALSE(std::filesystem::exists(run.request.output.prefix + ".log"));
    const std::size_t id = listener.warnings[0].find('W');
    run.request.input.allowed = {listener.warnings[0].substr(id, 4)};
    EXPECT_EQ(run.go(listener).reached, 140);
    EXPECT_THAT(listener.warnings[1], testing::EndsWith(" (allowed)"));
}

TEST(Run, stops_by_itself_when_its_hours_are_over)
{
    struct Slow final : RunObserver
    {
        std::atomic<bool>* stop = nullptr;
        void progress(const RunProgress& now) override
        {
            if (now.steps_done >= 50) { stop->wait(false); }
        }
    };
    ShortRun run;
    run.request.length.hours = 1e-9;
    Slow slow;
    slow.stop = &run.stop;
    EXPECT_EQ(run.go(slow).end, RunEnd::Stopped);
    EXPECT_TRUE(run.stop);
}

TEST(Run, of_several_processes_passes_on_a_stop_and_goes_on_to_the_same_bits)
{
    // In the process that writes: ends its launcher's wait by SIGTERM at step 50, and waits for the stop to come.
    struct Terminator final : RunObserver
    {
        const std::atomic<bool>* stop = nullptr;
        void progress(const RunProgress& now) override
        {
            if (now.steps_done < 50 || stop->load()) { return; }
            ::kill(::getppid(), SIGTERM);
            while (!stop->load()) { ::usleep(1000); }
        }
    };
    ShortRun through, spread;
    through.go();
    spread.request.placement.ranks = 2;
    spread.request.placement.processes = 2;
    Terminator terminator;
    terminator.stop = &spread.stop;
    EXPECT_EQ(spread.go(terminator).end, RunEnd::Stopped);
    EXPECT_EQ(std::signal(SIGTERM, SIG_DFL), SIG_DFL); // as before
    spread.stop = false;
    EXPECT_EQ(spread.go().end, RunEnd::Done);
    expect_same(spread, through);
}

} // namespace
} // namespace parhelion
