// SPDX-License-Identifier: Apache-2.0
#include "engine/option_rules.hpp"

#include "base/error.hpp"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <string_view>

namespace parhelion {
namespace {

using testing::HasSubstr;
using testing::Not;

// The text of the refusal, with its id; empty: the facts go together.
std::string refusal(const OptionFacts& facts)
{
    try
    {
        expect_to_go_together(facts);
    }
    catch (const InputError& error)
    {
        return error.id() + " " + error.message();
    }
    return "";
}

OptionFacts launched(int processes)
{
    OptionFacts facts;
    facts.launcher = "srun", facts.processes = processes;
    return facts;
}
OptionFacts started(int processes)
{
    OptionFacts facts;
    facts.placement.processes = facts.processes = processes;
    return facts;
}
NicEmulation nodes(int count, int ranks_per_node)
{
    NicEmulation result;
    result.nodes = count, result.ranks_per_node = ranks_per_node;
    return result;
}

TEST(OptionRules, of_nothing_given_break_none)
{
    EXPECT_EQ(refusal({}), "");
    EXPECT_EQ(refusal(launched(4)), "");
    EXPECT_EQ(refusal(started(4)), "");
}

TEST(OptionRules, say_what_was_given_the_rule_and_what_to_do)
{
    OptionFacts facts;
    facts.placement.device = Device::Cpu, facts.placement.gpus = 2;
    EXPECT_EQ(refusal(facts), "E005 --gpus 2, --device cpu: a run on CPUs takes no GPUs. Leave one of them out.");

    facts = {};
    facts.placement.ranks = 3, facts.placement.grid = {2, 1, 1}, facts.placement.pme = MeshMethod::Dedicated;
    facts.placement.mesh_ranks = 2;
    EXPECT_EQ(refusal(facts),
              "E008 --grid 2x1x1, --ranks 3, --pme dedicated:2: each rank has one cell of the grid, but those that "
              "--pme dedicated:k takes. Leave --grid or --ranks out.");
    facts.placement.ranks = 4;
    EXPECT_EQ(refusal(facts), "");
}

TEST(OptionRules, count_ranks_by_what_asks_for_them)
{
    EXPECT_EQ(ranks_of({}), 1);
    EXPECT_EQ(ranks_of(started(4)), 4);
    OptionFacts facts = started(2);
    facts.placement.gpus = 4;
    EXPECT_EQ(ranks_of(facts), 4);
    facts.placement.grid = {3, 1, 1}, facts.placement.mesh_ranks = 1;
    EXPECT_EQ(ranks_of(facts), 4);
    facts = {};
    facts.connection.transport = TransportKind::NicEmulation, facts.connection.nodes = nodes(2, 3);
    EXPECT_EQ(ranks_of(facts), 6);
}

TEST(OptionRules, of_processes_are_judged_with_the_ranks)
{
    OptionFacts facts = started(4);
    facts.placement.ranks = 3;
    EXPECT_EQ(refusal(facts),
              "E010 --processes 4, --ranks 3: each process has one rank at least. Give more --ranks, or fewer processes.");
    facts = started(2);
    facts.has_trace = true;
    EXPECT_THAT(refusal(facts), HasSubstr("--trace sees the ranks of one process alone"));
    facts.processes = facts.placement.processes = 1;
    EXPECT_EQ(refusal(facts), "");
    facts = started(2);
    facts.is_one_ranks = true;
    EXPECT_THAT(refusal(facts), HasSubstr("--processes 2, a minimisation: a minimisation runs in one process"));
}

TEST(OptionRules, of_launched_processes_are_their_own)
{
    OptionFacts facts = launched(4);
    facts.placement.processes = 2;
    EXPECT_THAT(refusal(facts), HasSubstr("--processes 2, 4 processes of srun: processes that a launcher has started start no"));
    facts = launched(4);
    facts.placement.device = Device::Gpu;
    EXPECT_THAT(refusal(facts), HasSubstr("NVSHMEM's memory"));
    facts.connection.transport = TransportKind::Nvshmem;
    EXPECT_EQ(refusal(facts), "");
    facts.placement.gpus = 4;
    EXPECT_THAT(refusal(facts), HasSubstr("without --gpus"));
    facts = launched(4);
    facts.connection.transport = TransportKind::Mpi, facts.placement.ranks = 8;
    EXPECT_THAT(refusal(facts), HasSubstr("each process is one rank"));
    facts.placement.ranks = 4;
    EXPECT_EQ(refusal(facts), "");
    facts.connection.trust_network = true;
    EXPECT_EQ(refusal(facts), "");
    facts.launcher = {}, facts.processes = 1;
    facts.connection.transport = TransportKind::Auto;
    EXPECT_THAT(refusal(facts), HasSubstr("--trust-network: only processes that a launcher has started"));
}

TEST(OptionRules, of_virtual_nodes_need_the_transport_and_the_ranks)
{
    OptionFacts facts;
    facts.connection.transport = TransportKind::NicEmulation;
    EXPECT_THAT(refusal(facts), HasSubstr("--transport nic-emulation: nic-emulation joins the nodes of --nodes"));
    facts.connection.nodes = nodes(2, 2);
    EXPECT_EQ(refusal(facts), "");
    facts.placement.ranks = 3;
    EXPECT_THAT(refusal(facts), HasSubstr("--nodes 2x2, --ranks 3: there are as many ranks as the nodes have"));
    facts.placement.ranks = 4;
    facts.placement.processes = facts.processes = 4;
    EXPECT_THAT(refusal(facts), HasSubstr("--nodes 2x2, --processes 4: each process has whole nodes"));
    facts.placement.processes = facts.processes = 2;
    EXPECT_EQ(refusal(facts), "");
    facts.connection.transport = TransportKind::Tcp;
    EXPECT_THAT(refusal(facts), HasSubstr("Give both"));
}

TEST(OptionRules, of_gpus_of_several_nodes_name_the_method_that_leaves_them)
{
    OptionFacts facts;
    facts.connection.transport = TransportKind::NicEmulation, facts.connection.nodes = nodes(2, 2);
    facts.placement.gpus = 1, facts.placement.halo = HaloMethod::Direct;
    EXPECT_EQ(refusal(facts), "E010 --halo direct, --nodes 2x2, --transport nic-emulation: between nodes of GPUs halos are "
                              "staged-fused. Use --halo staged-fused.");
    facts.placement.halo = HaloMethod::StagedFused;
    EXPECT_EQ(refusal(facts), "");
    EXPECT_NO_THROW(expect_to_leave_nodes(HaloMethod::StagedFused, MeshMethod::Bricks));
    EXPECT_THROW(expect_to_leave_nodes(HaloMethod::Direct, MeshMethod::Auto), InputError);
    EXPECT_THROW(expect_to_leave_nodes(HaloMethod::StagedFused, MeshMethod::Dedicated), InputError);
}

TEST(OptionRules, of_many_runs_leave_each_one_process_and_on_gpus_one_rank)
{
    OptionFacts facts;
    facts.folders = 3;
    EXPECT_EQ(refusal(facts), "");
    facts.placement.gpus = 2;
    EXPECT_EQ(refusal(facts), "");
    facts.placement.ranks = 2;
    EXPECT_THAT(refusal(facts), HasSubstr("--multi of 3 folders, --ranks 2, --gpus 2: on GPUs each run of --multi has one rank"));
    facts.placement.gpus = 0; // on CPUs
    EXPECT_EQ(refusal(facts), "");
    facts.connection.transport = TransportKind::NicEmulation, facts.connection.nodes = nodes(2, 1);
    EXPECT_THAT(refusal(facts), HasSubstr("have no virtual nodes"));
    facts = launched(2);
    facts.folders = 3;
    EXPECT_THAT(refusal(facts), HasSubstr("all in one process"));
}

TEST(OptionRules, of_the_device_are_judged_once_it_is_known)
{
    OptionFacts facts;
    facts.placement.halo = HaloMethod::StagedDma;
    EXPECT_EQ(refusal(facts), "");
    facts.is_on_cpus = true;
    EXPECT_THAT(refusal(facts), HasSubstr("E006 --halo staged-dma: staged-dma uses the copy engines of GPUs"));
}

TEST(OptionRules, are_told_to_a_command_that_has_the_options)
{
    const std::string of_run = rules_in_words([](std::string_view) { return true; });
    EXPECT_THAT(of_run, HasSubstr("--gpus, --device: a run on CPUs takes no GPUs\n"));
    EXPECT_THAT(of_run, HasSubstr("--nodes, --processes: each process has whole nodes\n"));
    const std::string of_check = rules_in_words([](std::string_view o) { return o == "--gpus" || o == "--device"; });
    EXPECT_THAT(of_check, HasSubstr("a run on CPUs takes no GPUs"));
    EXPECT_THAT(of_check, Not(HasSubstr("nodes")));
}

TEST(OptionRules, are_those_of_the_manual)
{
    std::ifstream page(std::string(PARHELION_SOURCE_DIR) + "/docs/user/options.md");
    EXPECT_TRUE(std::string(std::istreambuf_iterator<char>(page), {}) == option_manual()) << "build the target option_manual";
}

} // namespace
} // namespace parhelion
