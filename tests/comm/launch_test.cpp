// SPDX-License-Identifier: Apache-2.0
// Environments as launchers make them, and what is read from them.
#include "comm/launch/launch.hpp"

#include "base/error.hpp"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <map>

using namespace parhelion;
using testing::HasSubstr;

namespace {

using Variables = std::map<std::string, std::string>;

std::optional<Launch> launch_of(const Variables& variables)
{
    return recognise_launch([&](const char* name) -> const char* {
        const auto found = variables.find(name);
        return found != variables.end() ? found->second.c_str() : nullptr;
    });
}

// "launcher process/processes host:port", or the text of E210, or "alone".
std::string text_of(const Variables& variables)
{
    try
    {
        const auto launch = launch_of(variables);
        if (!launch) { return "alone"; }
        return launch->launcher + " " + std::to_string(launch->process) + "/" + std::to_string(launch->processes) + " " +
               launch->address.text();
    }
    catch (const InputError& error)
    {
        EXPECT_EQ(error.id(), "E210");
        return error.message();
    }
}

} // namespace

TEST(Launch, is_recognised_by_the_variables_of_each_launcher)
{
    const Variables torchrun = {
        {"RANK", "1"}, {"WORLD_SIZE", "4"}, {"LOCAL_RANK", "1"}, {"MASTER_ADDR", "n042"}, {"MASTER_PORT", "29500"}};
    EXPECT_EQ(text_of(torchrun), "torchrun 1/4 n042:29500");
    Variables elastic = torchrun;
    elastic["TORCHELASTIC_USE_AGENT_STORE"] = "True";
    EXPECT_EQ(text_of(elastic), "torchrun 1/4 n042:29501");
    Variables own = torchrun;
    own.insert({{"PARHELION_RANK", "0"}, {"PARHELION_SIZE", "2"}, {"PARHELION_HOST", "[fe80::1]:7000"}});
    EXPECT_EQ(text_of(own), "PARHELION_RANK 0/2 [fe80::1]:7000");
    const Variables slurm = {{"SLURM_PROCID", "7"},
                             {"SLURM_STEP_NUM_TASKS", "8"},
                             {"SLURM_STEP_NODELIST", "n[042-045,050],m1"},
                             {"SLURM_JOB_ID", "24007"}};
    EXPECT_EQ(text_of(slurm), "Slurm 7/8 n042:20007");
    Variables pmix = slurm;
    pmix.insert({{"PMIX_RANK", "7"}, {"PMI_RANK", "7"}, {"PMI_SIZE", "8"}});
    EXPECT_EQ(text_of(pmix), "Slurm 7/8 n042:20007");
    EXPECT_EQ(text_of({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}}),
              "Open MPI 1/2 127.0.0.1:29473");
    EXPECT_EQ(text_of({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALNRANKS", "1"}, {"PARHELION_HOST", "n1"}}),
              "PMI 1/2 n1:29473");
}

TEST(Launch, of_one_process_is_none)
{
    EXPECT_EQ(text_of({}), "alone");
    EXPECT_EQ(text_of({{"PARHELION_RANK", "0"}, {"PARHELION_SIZE", "1"}}), "alone");
    EXPECT_EQ(text_of({{"SLURM_PROCID", "0"}, {"SLURM_JOB_ID", "1"}}), "alone"); // a script without srun
    EXPECT_EQ(text_of({{"RANK", "somebody's"}}), "alone");
}

TEST(Launch, that_says_too_little_is_refused)
{
    EXPECT_THAT(text_of({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}}),
                HasSubstr("does not say where its first process is. Set PARHELION_RANK"));
    EXPECT_THAT(text_of({{"PMIX_RANK", "1"}}), HasSubstr("does not say how many there are"));
    EXPECT_THAT(text_of({{"PARHELION_RANK", "2"}, {"PARHELION_SIZE", "2"}}), HasSubstr("'2', which is no number from 0 to 1"));
    EXPECT_THAT(text_of({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "x"}}),
                HasSubstr("MASTER_PORT is 'x'"));
    for (const char* const nowhere : {"", ":1", "[]:1"})
    {
        EXPECT_THAT(text_of({{"PARHELION_RANK", "0"}, {"PARHELION_SIZE", "2"}, {"PARHELION_HOST", nowhere}}),
                    HasSubstr("the host has no name"))
            << nowhere;
    }
}
