// SPDX-License-Identifier: Apache-2.0
// The processes of a run on GPUs, as one of them sees the others. Each drives the GPUs of its own ranks, and all run the same
// host program: what it decides by depends on what all ranks agree on (flags, the box), so all decide alike. What depends on a
// clock, a file or the user is decided by the first process and told here.
//
// The idea: the leaders, which are the first ranks of all processes, are a group of a world of CPU ranks beside that of GPUs. The
// first process tells its decisions right before it queues what they are about. So another that waits for it waits here, where
// deadlines pause while an observer writes, and not in a kernel. Cost: a message between hosts, some microseconds a segment.
//
// All calls but those about loss are collective, by the thread that drives the process. Alone: nothing happens.
#pragma once

#include "comm/communicator.hpp"
#include "comm/gpu/heap.hpp"
#include "comm/world.hpp"
#include "engine/simulation.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

namespace parhelion {

class GpuProcesses
{
public:
    // As options.network connects them, of a run with so many processes. Throws CommError.
    explicit GpuProcesses(const SimulationOptions& options);
    // With NVSHMEM's memory: waits until all processes come here, unless an exception is under way.
    ~GpuProcesses();
    GpuProcesses(const GpuProcesses&) = delete;
    GpuProcesses& operator=(const GpuProcesses&) = delete;

    bool are_several() const { return leaders_.has_value(); }
    // Ranks of this process, of so many in all.
    RankRange here(int ranks) const { return world_ ? world_->here() : RankRange{0, ranks}; }
    // So many bytes on the GPU of each process, whose current one it is; null: the world makes its own.
    GpuHeap* make_heap(std::size_t bytes);
    Bootstrap* bootstrap() { return world_ ? &world_->bootstrap() : nullptr; } // null: alone
    // The first ranks of all processes.
    const std::vector<int>& leaders() const { return leading_; }

    // Returns once all processes have come here.
    void meet();
    // What the first process says.
    std::int64_t of_first(std::int64_t value);
    bool of_first(bool value) { return of_first(std::int64_t{value}) != 0; }
    std::int64_t largest(std::int64_t value);
    double sum(double value);
    bool all(bool value) { return largest(std::int64_t{!value}) == 0; }

    // Deadlines of those who wait for this process here (engine/deadline_pause.hpp).
    void pause_deadlines();
    void resume_deadlines();
    // As World::on_loss().
    void on_loss(World::OnLoss listener);

private:
    const GpuMemory memory_;
    GpuHeapOptions heap_options_;
    std::optional<World> world_;
    std::unique_ptr<GpuHeap> heap_;
    std::vector<int> leading_{0};
    std::optional<Communicator> self_; // the first rank here
    std::optional<RankGroup> leaders_;
};

} // namespace parhelion
