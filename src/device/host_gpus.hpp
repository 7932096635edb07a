// SPDX-License-Identifier: Apache-2.0
// Describes the GPUs of this host as a value: their properties, and which GPUs can address each other's memory. The
// choice of GPUs (engine/choose_gpus.hpp) reads this value alone, so that tests can describe hosts that do not exist.
//
// Cost of find_gpus(): some milliseconds at the first call. It initialises no GPU.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace parhelion {

struct HostGpu
{
    int device = 0; // the CUDA runtime's number, as in "GPU 0"
    std::string name;
    int major = 0, minor = 0; // compute capability
    bool has_code = true;     // true if this program has kernels for this GPU
    bool is_allowed = true;   // false if the GPU's compute mode prohibits programs
    // True if this GPU can allocate memory that other GPUs can address.
    bool makes_shared_memory = true;
    std::size_t memory = 0; // bytes
    int multiprocessors = 0;
    double clock_ghz = 0; // the highest clock rate
};

struct HostGpus
{
    std::vector<HostGpu> gpus;
    std::vector<std::vector<bool>> reach; // reach[a][b]: true if gpus[a] can load from and store to the memory of gpus[b]

    // Returns true if kernels on gpus[a] and gpus[b] can exchange data.
    bool are_joined(std::size_t a, std::size_t b) const
    {
        return reach[a][b] && reach[b][a] && gpus[a].makes_shared_memory && gpus[b].makes_shared_memory;
    }
};

// The speed of the slowest link among several GPUs.
struct LinkSpeed
{
    double signal_us = 0;  // latency until one GPU sees a signal from another, us
    double store_gb_s = 0; // bandwidth of stores into the memory of another GPU, both directions at once, GB/s
    std::string trouble;   // the reason why these GPUs cannot exchange data; empty if they can
};

// Returns the GPUs of this host by their numbers, none without a driver. The driver is asked once per process.
const HostGpus& find_gpus();

// Returns true if a GPU of this compute capability runs code compiled for `architectures`, a list as in CMake. "80-real"
// is machine code, which also runs on later GPUs of the same major number. The driver can compile "100-virtual" for all
// later GPUs. "90" is both kinds of code. If no entry has a number, the result is true, because nothing is known.
bool runs_code_for(const std::string& architectures, int major, int minor);

// Returns the reason, such as "no code for its compute capability 6.1 in this program"; empty if this program can use the GPU.
std::string why_unusable(const HostGpu& gpu);
// Returns the GPU's name with its number, such as "GPU 1 (NVIDIA T4)".
std::string name_of(const HostGpu& gpu);

} // namespace parhelion
