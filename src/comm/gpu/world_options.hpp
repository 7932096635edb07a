// SPDX-License-Identifier: Apache-2.0
// Options of a world of GPUs (comm/gpu/world_gpu.hpp).
#pragma once

#include "comm/transports/virtual_nodes.hpp"
#include "device/phase_clock.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace parhelion {

class Bootstrap;
class GpuHeap;
struct Put;

// Hooks with which tests cause faults.
struct GpuWorldHooks
{
    // Returns whether signals that this source sends on channels with this label get lost.
    std::function<bool(const std::string& label, int source)> loses;
    // Called by proxies before they carry a message. If it throws, the proxy fails with that exception.
    std::function<void(const Put&)> before_each_put;
};

struct GpuWorldOptions
{
    std::chrono::nanoseconds deadline = std::chrono::seconds(60); // limit of each wait
    std::size_t payload_bytes = std::size_t{1} << 26;             // size of each rank's payload arena
    std::size_t signal_slots = std::size_t{1} << 14;              // number of signal slots of each rank; 2 MiB
    PhaseTag phase;                                               // phase under which the kernels of src/comm/gpu are counted
    std::string tag_name = "round";                               // noun for the number of set_tag_word() in texts of failures
    GpuWorldHooks hooks;
    // Number of threads of each process that compute or queue work. Proxies get cores that none of these threads of any process
    // of this host uses (GpuWorld::proxies()). 0: the caller distributes the cores, once the world has proxies.
    int compute_threads = 1;
    // The bootstrap of the processes that hold the ranks; it outlives the world. Null: all ranks are in this process.
    Bootstrap* bootstrap = nullptr;
    // The heap that holds the memory of all ranks, with one rank per process; it outlives the world. The domains of the heap
    // are the nodes. Null: the world makes its own arenas.
    GpuHeap* heap = nullptr;
    // The virtual nodes of the ranks, which exclude a heap. A process holds whole nodes. Without a value the nodes are real.
    std::optional<NicEmulation> nodes = std::nullopt;
};

} // namespace parhelion
