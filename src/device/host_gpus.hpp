// SPDX-License-Identifier: Apache-2.0
// The GPUs of this host as a value: what each of them is, and which reach each other's memory. Whoever chooses among them
// (engine/choose_gpus.hpp) reads this alone, so that tests fill it in by hand for hosts that are not there.
//
// Cost of find_gpus(): some milliseconds at the first call. It starts none of the GPUs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace parhelion {

struct HostGpu
{
    int device = 0; // the runtime's number, as in "GPU 0"
    std::string name;
    int major = 0, minor = 0; // compute capability
    bool has_code = true;     // this program has kernels that run on it
    bool is_allowed = true;   // its compute mode lets programs use it
    // Memory can be made on it that other GPUs address, too.
    bool makes_shared_memory = true;
    std::size_t memory = 0; // bytes
    int multiprocessors = 0;
    double clock_ghz = 0; // the highest
};

struct HostGpus
{
    std::vector<HostGpu> gpus;
    std::vector<std::vector<bool>> reach; // reach[a][b]: gpus[a] loads from and stores into the memory of gpus[b]

    // Can kernels on gpus[a] and gpus[b] exchange data?
    bool are_joined(std::size_t a, std::size_t b) const
    {
        return reach[a][b] && reach[b][a] && gpus[a].makes_shared_memory && gpus[b].makes_shared_memory;
    }
};

// The slowest of the links among some GPUs.
struct LinkSpeed
{
    double signal_us = 0;  // until a GPU sees what another signals
    double store_gb_s = 0; // of stores into the other's memory, both ways at once
    std::string trouble;   // why they cannot exchange data after all; empty: they can
};

// The GPUs of this host in the order of their numbers; none without a driver. Found out once in a process.
const HostGpus& find_gpus();

// Does a GPU of this compute capability run code that was compiled for `architectures`? They are written as CMake does: "80-real"
// is machine code, which later GPUs of the same major number run, too; "100-virtual" is what the driver can compile for all later
// GPUs; "90" is both. Of words without a number nothing is known, and the answer is yes.
bool runs_code_for(const std::string& architectures, int major, int minor);

// "no code for its compute capability 6.1 in this program"; empty if this program can use it.
std::string why_unusable(const HostGpu& gpu);
// "GPU 1 (NVIDIA T4)"
std::string name_of(const HostGpu& gpu);

} // namespace parhelion
