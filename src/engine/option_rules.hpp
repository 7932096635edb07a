// SPDX-License-Identifier: Apache-2.0
// The table of rules for options that depend on each other. The end of `--help`, the error messages and docs/user/options.md
// are made from this table. A row names the options that it concerns, states the rule and gives advice.
#pragma once

#include "engine/options.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace parhelion {

// The facts by which rules are checked. A fact that is not known yet keeps its default, which breaks no rule.
struct OptionFacts
{
    RunPlacement placement{};
    RunConnection connection{};
    bool has_trace = false;
    int folders = 0;                 // number of folders of --multi, each with a run
    std::string_view launcher{};     // name of the launcher that started this process; empty: none
    int processes = 1;               // number of processes of the launcher, or given by --processes
    std::string_view only_on_cpus{}; // a feature of the input that GPUs lack, such as "a box that pressure shears"; empty: none
    bool is_one_ranks = false;       // the input has a feature that requires a single rank
    bool is_on_cpus = false;         // true if no GPU is used; known after the GPUs of this host were examined
    bool leaves_node = false;        // true if messages between GPUs leave their node
};

// Returns the number of ranks: the given number, or that of all nodes, or one rank for each process or GPU.
int ranks_of(const OptionFacts& facts);

// Throws InputError for the first broken rule, such as "--gpus 2, --device cpu: a run on CPUs takes no GPUs. Leave ...".
void expect_to_go_together(const OptionFacts& facts);
// Throws InputError E010 unless both methods work between GPUs of different nodes.
void expect_to_leave_nodes(HaloMethod halo, MeshMethod mesh);

// Returns the rules as lines of text, but only rules whose options are all options of the command (has_option).
std::string rules_in_words(const std::function<bool(std::string_view option)>& has_option);
// Returns the text of docs/user/options.md.
std::string option_manual();

} // namespace parhelion
