// SPDX-License-Identifier: Apache-2.0
// Can the GPUs of a world talk? Every two exchange one message each way, compared word by word, and the time of a signal is
// taken. This runs at the start of a run and in `parhelion doctor`. Cost: a millisecond a pair, and two signal slots a channel.
//
// The choice among GPUs also wants the speed of their links. Cost: some milliseconds a pair more, and the start of the GPUs, half
// a second each.
#pragma once

#include "comm/gpu/world_gpu.hpp"
#include "device/host_gpus.hpp"

#include <string>
#include <vector>

namespace parhelion {

struct PairTest
{
    int first, second; // ranks
    bool has_native_atomics;
    double signal_us; // one way: half a round trip between two blocks that wait
};

// Every two GPUs, by the first ranks that are theirs; a GPU of several ranks with itself, if there is no other. Throws CommError
// if a message was wrong or did not come.
std::vector<PairTest> self_test(GpuWorld& world);
// "6 pairs of GPUs: messages arrive, a signal takes 1.31 to 1.44 us, native atomics"
std::string describe(const std::vector<PairTest>& tests);

// Of the links among these GPUs, which are tested for that in a world of their own; what is wrong with one is told as trouble,
// within seconds. Found out once in a process.
LinkSpeed time_links(const std::vector<int>& devices);

} // namespace parhelion
