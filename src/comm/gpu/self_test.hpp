// SPDX-License-Identifier: Apache-2.0
// Tests whether the GPUs of a world can communicate. Each pair exchanges one message each way, compares all words, and times a
// signal. The test runs at the start of a run and in `parhelion doctor`. Cost: 1 ms a pair, and two signal slots a channel.
//
// time_links() measures the speed of links, which the choice among GPUs needs. Cost: some milliseconds more per pair, and half
// a second per GPU, which it starts.
#pragma once

#include "comm/gpu/world_gpu.hpp"
#include "device/host_gpus.hpp"

#include <string>
#include <vector>

namespace parhelion {

struct PairTest
{
    int first, second; // numbers of the two ranks
    bool has_native_atomics;
    double signal_us; // time of a signal one way: half a round trip between two waiting blocks
};

// Tests each pair of GPUs by the first rank of each GPU. A single GPU with several ranks is tested with itself. Returns a
// result per pair. Throws CommError if a message was wrong or did not arrive.
std::vector<PairTest> self_test(GpuWorld& world);
// Returns a text like "6 pairs of GPUs: messages arrive, a signal takes 1.31 to 1.44 us, native atomics".
std::string describe(const std::vector<PairTest>& tests);

// Times the links among these GPUs, and tests the links in a world made for that. A link that fails is reported as trouble,
// within seconds. The result is measured once per process and kept.
LinkSpeed time_links(const std::vector<int>& devices);

} // namespace parhelion
