// SPDX-License-Identifier: Apache-2.0
// A run on GPUs whose ranks lose messages, or one of whose GPUs or proxies is stuck, ends soon, with one error that says which
// wait timed out; if a proxy fails, with its sentence.
#include "base/error.hpp"
#include "engine/gpu/ranks.hpp"
#include "engine/prepared_run.hpp"
#include "pairs/buffer.hpp"
#include "run_helpers.hpp"
#include "support/gpu_test.hpp"
#include "support/stall.cuh"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <sstream>
#include <thread>
#include <tuple>

using namespace parhelion;
using namespace parhelion::test;
using namespace std::chrono_literals;
using ::testing::AnyOf;
using ::testing::MatchesRegex;

namespace {

#ifdef PARHELION_TEST_DEADLINE_MS // where kernels run on a CPU
constexpr std::chrono::milliseconds deadline(PARHELION_TEST_DEADLINE_MS);
#else
constexpr std::chrono::milliseconds deadline = 300ms;
#endif
const auto soon = 10 * deadline + 2s; // kernels that are queued run to their ends
// As messages tell it; in a regular expression its point is any character.
std::string told(std::chrono::milliseconds time)
{
    std::ostringstream text;
    text << std::chrono::duration<double>(time).count();
    return text.str();
}
const std::string timed_out = "Rank [0-9] timed out after " + told(deadline) +
                              " s waiting for a message from rank [0-9]: channel '[a-z ]+(, pulse [0-9]+)?', epoch "
                              "expected [0-9]+, seen [0-9]+, credit [0-9]+, in step -?[0-9]+\\.";
const std::string host_timed_out =
    "The host timed out after " + told(2 * deadline) + " s waiting for rank [0-9]: its GPU is stuck, or one that it waits for\\.";

// Four ranks, or eight where there are more than four GPUs; on virtual nodes of so many (0: on none).
struct Where
{
    int gpus;
    HaloMethod method;
    int ranks_per_node = 0;
};
std::string name_of(const Where& where)
{
    std::string name(halo_method_names[static_cast<std::size_t>(where.method)]);
    std::replace(name.begin(), name.end(), '-', '_');
    name.append("_on_").append(std::to_string(where.gpus));
    if (where.ranks_per_node > 0) { name.append("_nodes_of_").append(std::to_string(where.ranks_per_node)); }
    return name;
}
void PrintTo(const Where& where, std::ostream* os) { *os << name_of(where); }

std::vector<Where> everywhere()
{
    std::vector<Where> all;
    for (int gpus = 1; gpus <= 8; gpus *= 2)
    {
        for (std::size_t m = 0; m < halo_method_names.size(); ++m) { all.push_back({gpus, static_cast<HaloMethod>(m)}); }
        for (const int ranks_per_node : {1, 2}) { all.push_back({gpus, HaloMethod::StagedFused, ranks_per_node}); }
    }
    return all;
}

class GpuFaults : public GpuTest
{
protected:
    void set_up(const Where& where)
    {
        take_gpus(where.gpus);
        if (IsSkipped()) { return; }
        where_ = where;
        Refdata data = load_nve("etoh");
        RunParameters& p = data.parameters;
        p.coulomb_cutoff = p.lj_cutoff = 0.5, p.list_cutoff = 0.6;
        p.buffer_tolerance = -1, p.list_interval = 10;
        run_ = prepare_run<Mixed>(std::move(data.system), std::move(data.parameters), SimulationOptions{}, nullptr);
        list_plan_ = plan_pair_list(run_->setup.system, run_->setup.parameters, gpu_list_costs(3000, true));
    }

    // How a run of three list intervals ends; in the middle of the second `event` happens.
    template <class Event>
    std::string end_of_run(const GpuWorldOptions& world, Event&& event)
    {
        SimulationOptions options;
        options.device = Device::Gpu, options.halo = where_.method, options.comm_timeout = deadline;
        options.grid = {2, 2, where_.gpus > 4 ? 2 : 1}, options.gpus = where_.gpus;
        put_on_nodes(options, where_.ranks_per_node);
        std::vector<StepFlags> first_half(1), second_half(1);
        first_half[0].repartition = true;
        begin_ = std::chrono::steady_clock::now();
        try
        {
            GpuProcesses alone(options);
            GpuRanks<Mixed> ranks(*run_, list_plan_, options, 1, alone, world);
            ranks.deal_out();
            for (int k = 0; k < 3; ++k)
            {
                ranks.replay(0, first_half);
                if (k == 1) { event(ranks); }
                ranks.replay(1, second_half);
            }
            ranks.synchronize();
        }
        catch (const CommError& error)
        {
            return error.what();
        }
        return "";
    }
    // Of the last run, all that ends with it included.
    std::chrono::nanoseconds time() const { return std::chrono::steady_clock::now() - begin_; }

    Where where_{};
    std::shared_ptr<PreparedRun<Mixed>> run_;
    ListPlan list_plan_;
    std::chrono::steady_clock::time_point begin_;
};

constexpr auto nothing = [](GpuRanks<Mixed>&) {};

// A kind of messages, by the beginning of its channels' names.
class GpuFaultsOfMessages : public GpuFaults, public ::testing::WithParamInterface<std::tuple<Where, std::string>>
{
protected:
    void SetUp() override { set_up(std::get<0>(GetParam())); }
};

class GpuFaultsOfGpus : public GpuFaults, public ::testing::WithParamInterface<Where>
{
protected:
    void SetUp() override { set_up(GetParam()); }
};

class GpuFaultsOfProxies : public GpuFaults, public ::testing::WithParamInterface<Where>
{
protected:
    void SetUp() override { set_up(GetParam()); }
    // How a run ends in which `fault` happens before the nth message that rank 1 sends to another node.
    template <class Fault>
    std::string end_of_run_with(int n, Fault&& fault)
    {
        messages_ = 0;
        GpuWorldOptions world;
        world.hooks.before_each_put = [&](const Put& put) {
            if (put.source == 1 && ++messages_ == n) { fault(); }
        };
        return end_of_run(world, nothing);
    }
    int messages() const { return messages_; }

private:
    std::atomic<int> messages_;
};

// The program's exit codes are those of base/error.hpp: a CommError is a SystemError.
static_assert(std::is_base_of_v<SystemError, CommError>);

} // namespace

TEST_P(GpuFaultsOfMessages, that_are_lost_end_the_run_with_one_error)
{
    const std::string& channel = std::get<1>(GetParam());
    bool has_channel = false;
    GpuWorldOptions world;
    world.hooks.loses = [&](const std::string& label, int source) {
        const bool is_it = label.starts_with(channel);
        has_channel |= is_it;
        return is_it && source == 1;
    };
    const std::string error = end_of_run(world, nothing);
    if (where_.ranks_per_node > 0) { EXPECT_TRUE(has_channel); }
    if (!has_channel) { return; } // the method has no such messages
    EXPECT_LT(time(), soon);
    EXPECT_THAT(error, MatchesRegex(timed_out));
}

INSTANTIATE_TEST_SUITE_P(Everywhere, GpuFaultsOfMessages,
                         ::testing::Combine(::testing::ValuesIn(everywhere()),
                                            ::testing::Values("halo plan", "halo coordinates", "halo forces", "sums",
                                                              "exchange buffers", "atoms")),
                         [](const auto& test) {
                             std::string name = std::get<1>(test.param) + "_" + name_of(std::get<0>(test.param));
                             std::replace(name.begin(), name.end(), ' ', '_');
                             return name;
                         });

TEST_P(GpuFaultsOfGpus, that_are_stuck_end_the_run_with_one_error)
{
    EXPECT_EQ(end_of_run({}, nothing), "") << "none is stuck";
    const int last = where_.gpus - 1;
    const std::string error = end_of_run({}, [&](GpuRanks<Mixed>& ranks) { stall(ranks.layout().queue(last), 7 * deadline); });
    EXPECT_LT(time(), 7 * deadline + soon);
    EXPECT_THAT(error, AnyOf(MatchesRegex(timed_out), MatchesRegex(host_timed_out)));
}

INSTANTIATE_TEST_SUITE_P(Everywhere, GpuFaultsOfGpus, ::testing::ValuesIn(everywhere()),
                         [](const auto& test) { return name_of(test.param); });

TEST_P(GpuFaultsOfProxies, that_fail_end_the_run_with_their_sentence)
{
    EXPECT_EQ(end_of_run_with(0, [] {}), "");
    const int all = messages();
    for (const int n : {1, all / 2})
    {
        SCOPED_TRACE(testing::Message() << "message " << n << " of " << all);
        EXPECT_THAT(end_of_run_with(n, [] { throw CommError("The cable of rank 1 is out."); }),
                    MatchesRegex("The proxy of GPU [0-9] has failed: The cable of rank 1 is out\\."));
        EXPECT_LT(time(), soon);
    }
}

TEST_P(GpuFaultsOfProxies, that_are_held_end_the_run_with_one_error)
{
    const std::string error = end_of_run_with(20, [] { std::this_thread::sleep_for(3 * deadline); });
    EXPECT_GE(messages(), 20);
    EXPECT_THAT(error, AnyOf(MatchesRegex(timed_out), MatchesRegex(host_timed_out)));
    EXPECT_LT(time(), soon);
}

INSTANTIATE_TEST_SUITE_P(Nodes, GpuFaultsOfProxies,
                         ::testing::Values(Where{1, HaloMethod::StagedFused, 1}, Where{1, HaloMethod::StagedFused, 2},
                                           Where{2, HaloMethod::StagedFused, 2}),
                         [](const auto& test) { return name_of(test.param); });
