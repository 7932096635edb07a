// SPDX-License-Identifier: Apache-2.0
// The processes of a run on GPUs, as seen by one of them. Each process drives the GPUs of its own ranks, and all run the
// same program. Most decisions depend on data that all ranks have agreed on (flags, the box), so all processes decide alike.
// Decisions that depend on a clock, a file or the user are made by the first process, which sends them to the others.
//
// The idea: the leaders, the first ranks of all processes, are a group in a world of CPU ranks beside the world of GPUs. The
// first process sends a decision right before it queues the work that depends on it. Other processes thus wait here, where
// deadlines pause while an observer writes, not in a kernel. Cost: a message between hosts per segment, some microseconds.
//
// Calls are collective on the threads that drive GPUs, but for those about deadlines and loss. In a lone process they do nothing.
#pragma once

#include "comm/gpu/heap.hpp"
#include "comm/world/communicator.hpp"
#include "comm/world/world.hpp"
#include "engine/simulation.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

namespace parhelion {

class GpuProcesses
{
public:
    // Connects the options.processes processes of a run by options.network. Throws CommError.
    explicit GpuProcesses(const SimulationOptions& options);
    // If the memory is NVSHMEM's, waits until all processes are in their destructors, unless an exception is in flight.
    ~GpuProcesses();
    GpuProcesses(const GpuProcesses&) = delete;
    GpuProcesses& operator=(const GpuProcesses&) = delete;

    bool are_several() const { return leaders_.has_value(); }
    // Returns the ranks of this process, from among `ranks` ranks of the run.
    RankRange here(int ranks) const { return world_ ? world_->here() : RankRange{0, ranks}; }
    // Allocates `bytes` on the current GPU of each process. Returns null if the GPU world allocates its memory itself.
    GpuHeap* make_heap(std::size_t bytes);
    Bootstrap* bootstrap() { return world_ ? &world_->bootstrap() : nullptr; } // null in a lone process
    // Returns the first rank of each process.
    const std::vector<int>& leaders() const { return leading_; }

    // Returns once all processes have called it.
    void meet();
    // Returns the value that the first process has passed, on all processes.
    std::int64_t of_first(std::int64_t value);
    bool of_first(bool value) { return of_first(std::int64_t{value}) != 0; }
    std::int64_t largest(std::int64_t value);
    double sum(double value);
    bool all(bool value) { return largest(std::int64_t{!value}) == 0; }

    // Pauses the deadlines of other processes that wait for this one (engine/deadline_pause.hpp).
    void pause_deadlines();
    void resume_deadlines();
    // Sets a listener for lost processes, like World::on_loss().
    void on_loss(World::OnLoss listener);

private:
    const bool has_heap_; // true: memory is in NVSHMEM's heap
    GpuHeapOptions heap_options_;
    std::optional<World> world_;
    std::unique_ptr<GpuHeap> heap_;
    std::vector<int> leading_{0};
    std::optional<Communicator> self_; // communicator of the first rank of this process
    std::optional<RankGroup> leaders_;
};

} // namespace parhelion
