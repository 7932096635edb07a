// SPDX-License-Identifier: Apache-2.0
// A run on GPUs whose ranks lose messages, or one of whose GPUs is stuck, ends soon, with one error that says which wait was in
// vain.
#include "base/error.hpp"
#include "engine/engine.hpp"
#include "engine/gpu/ranks.hpp"
#include "pairs/buffer.hpp"
#include "series.hpp"
#include "support/gpu_test.hpp"
#include "support/stall.cuh"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

using namespace parhelion;
using namespace parhelion::test;
using namespace std::chrono_literals;
using ::testing::AnyOf;
using ::testing::MatchesRegex;

namespace {

constexpr auto deadline = 300ms;
constexpr const char* in_vain =
    "Rank [0-9] waited 0\\.3 s in vain for a message from rank [0-9]: channel '[a-z ]+(, pulse [0-9]+)?', epoch "
    "expected [0-9]+, seen [0-9]+, credit [0-9]+, in step -?[0-9]+\\.";
constexpr const char* host_in_vain =
    "The host waited 0\\.6 s in vain for rank [0-9]: its GPU is stuck, or one that it waits for\\.";

class GpuFaults : public GpuTest
{
protected:
    void SetUp() override
    {
        GpuTest::SetUp();
        if (IsSkipped()) { return; }
        LoadedInput series = load_series(45000);
        start_ =
            std::make_unique<Engine<Mixed>>(std::move(series.system), std::move(series.parameters), SimulationOptions{}, nullptr);
        list_plan_ = plan_pair_list(start_->setup().system, start_->setup().parameters, gpu_list_costs(45000, true));
    }

    // How a run of eight list intervals ends; in the middle of the fifth `event` happens.
    template <class Event>
    std::string end_of_run(int gpus, HaloMethod method, const GpuWorldOptions& world, Event&& event)
    {
        SimulationOptions options;
        options.device = Device::Gpu, options.halo = method, options.comm_timeout = deadline;
        options.grid = {2, 2, gpus > 4 ? 2 : 1}, options.gpus = gpus;
        std::vector<StepFlags> first_half(5), second_half(5);
        first_half[0].repartition = true;
        try
        {
            GpuProcesses alone(options);
            GpuRanks<Mixed> ranks(start_->lone_run().rank(), start_->setup(), list_plan_, options, 1, alone, world);
            ranks.deal_out();
            for (int k = 0; k < 8; ++k)
            {
                ranks.replay(0, first_half);
                if (k == 4) { event(ranks); }
                ranks.replay(5, second_half);
            }
            ranks.synchronize();
        }
        catch (const CommError& error)
        {
            return error.what();
        }
        return "";
    }

    std::unique_ptr<Engine<Mixed>> start_;
    ListPlan list_plan_;
};

constexpr auto nothing = [](GpuRanks<Mixed>&) {};

// The program's exit codes are those of base/error.hpp: a CommError is a SystemError.
static_assert(std::is_base_of_v<SystemError, CommError>);

} // namespace

TEST_F(GpuFaults, of_lost_messages_of_any_kind_end_the_run_with_one_error)
{
    for (int gpus = 1; gpus <= std::min(8, gpu_count()); gpus *= 2)
    {
        for (std::size_t m = 0; m < halo_method_names.size(); ++m)
        {
            EXPECT_EQ(end_of_run(gpus, static_cast<HaloMethod>(m), {}, nothing), "") << "without losses";
            for (const std::string channel : {"halo plan", "halo coordinates", "halo forces", "sums", "exchange buffers"})
            {
                SCOPED_TRACE(testing::Message() << channel << ", " << halo_method_names[m] << ", " << gpus << " GPU(s)");
                bool has_channel = false;
                GpuWorldOptions world;
                world.loses = [&](const std::string& label, int source) {
                    const bool is_it = label.starts_with(channel);
                    has_channel |= is_it;
                    return is_it && source == 1;
                };
                const auto begin = std::chrono::steady_clock::now();
                const std::string error = end_of_run(gpus, static_cast<HaloMethod>(m), world, nothing);
                if (!has_channel) { continue; } // the method has no such messages
                EXPECT_LT(std::chrono::steady_clock::now() - begin, deadline + 5s);
                EXPECT_THAT(error, MatchesRegex(in_vain));
            }
        }
    }
}

TEST_F(GpuFaults, of_a_gpu_that_is_stuck_end_the_run_with_one_error)
{
    for (int gpus = 1; gpus <= std::min(8, gpu_count()); gpus *= 2)
    {
        for (std::size_t m = 0; m < halo_method_names.size(); ++m)
        {
            SCOPED_TRACE(testing::Message() << halo_method_names[m] << ", " << gpus << " GPU(s)");
            const auto begin = std::chrono::steady_clock::now();
            const std::string error = end_of_run(gpus, static_cast<HaloMethod>(m), {},
                                                 [&](GpuRanks<Mixed>& ranks) { stall(ranks.queue(gpus - 1), 2s); });
            EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s + 5s);
            EXPECT_THAT(error, AnyOf(MatchesRegex(in_vain), MatchesRegex(host_in_vain)));
        }
    }
}
