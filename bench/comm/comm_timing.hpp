// SPDX-License-Identifier: Apache-2.0
// How fast GPUs talk: what `parhelion bench comm` reports. Between the first two ranks: a flag from thread to thread, a signal,
// messages of growing size in turns, halo rounds (both pack, send, wait and unpack at once), stores to the peer by few and many
// blocks, the copy engine. Between all: stores to the next rank at once, barrier and sum. A number takes milliseconds.
//
// All clocks are the GPUs' and start when all kernels run. Whatever is sent is compared word by word where it arrives, messages
// in a turn of their own.
//
// The goals were set for H200s on NVLink before anything was measured: a flag or signal in 1.2 us, a message of 4 kB in 2.5 and
// of 1 MB in 5, a halo round in 5, a barrier in 3, sustained stores at three quarters of the link's 450 GB/s.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace parhelion {

struct CommTiming
{
    std::string name;
    std::size_t bytes; // of one message, store or sum, of each rank
    int blocks;        // of each rank's kernel; 0: none
    double us;         // of one
    double goal_us;    // 0: none
};

// One rank for each entry, at least two, on that GPU. Everything is timed so many times, and the least counts, as all else on the
// machine can only add. Throws CommError, also if something arrives wrong, and DeviceError.
std::vector<CommTiming> time_comm(const std::vector<int>& devices, int repetitions);

} // namespace parhelion
