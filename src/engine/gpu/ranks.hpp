// SPDX-License-Identifier: Apache-2.0
// The ranks of a run that this process drives, on their GPUs. Usually these are all ranks. GpuEngine
// queues list intervals here and reads the results, in the same way for any number of ranks.
//
// The idea: one host thread queues the work of all GPUs of this process and waits for none. Each GPU replays graphs of its own,
// and GPUs meet through signals alone. Halo methods that need the host in every step have one thread per GPU, and no graphs.
// Values that are the same on all ranks (coupling, box, observables, flags) are read from the process's first rank. The exchange
// buffers collect all atoms on its GPU. Cost: a graph launch per GPU and interval, and a buffer of 45 bytes an atom on each GPU.
//
// Other processes have the other ranks (gpu/processes.hpp) and make the same calls. Processes meet where one may be ahead
// of another. Memory and ranks are in gpu/layout.hpp, graphs in gpu/replayer.hpp, values to read in gpu/readings.hpp.
#pragma once

#include "engine/gpu/layout.hpp"
#include "engine/gpu/replayer.hpp"

#include <span>
#include <string>

namespace parhelion {

template <class N>
class GpuRanks
{
public:
    // Arguments and errors are those of GpuLayout's constructor. deal_out() must follow; until then no kernel has been queued.
    GpuRanks(const PreparedRun<N>& run, const ListPlan& list_plan, const SimulationOptions& options, std::size_t records,
             GpuProcesses& processes, const GpuWorldOptions& world = {});

    GpuLayout<N>& layout() { return layout_; }
    const GpuLayout<N>& layout() const { return layout_; }
    GpuQueue& queue() { return layout_.queue(); } // the queue of this process's first GPU
    const GpuCoupling<N>& coupling() const { return layout_.first_rank().coupling; }

    // --- functions that queue work

    // Queues steps, which begin `list_age` steps after the lists were built: a list interval, or a part of one.
    void replay(std::int64_t list_age, std::span<const StepFlags> steps) { replayer_.replay(list_age, steps); }
    // If `on`, the steps that are replayed from here on leave records of their thread blocks.
    void set_tracing(bool on) { replayer_.set_tracing(on); }
    // Queues an exchange of flags among all ranks and a copy of the first rank's scalars to pinned memory.
    void report(DeviceScalars& scalars);
    // Queues a snapshot of the state after all work queued before. No snapshot is taken if a flag is raised.
    void keep_state(GpuSnapshot<N>& snapshot);
    // Queues the restoring of a snapshot without a new order of atoms. Pair lists stay valid. Precondition: one rank.
    void put_back_in_place(const GpuSnapshot<N>& snapshot);
    // framed(): positions and velocities of the latest step with a frame. framed_forces(): its forces, if they were due.
    const GpuSnapshot<N>& framed() const { return replayer_.framed(); }
    const Vec3<typename N::ForceSum>* framed_forces() const { return layout_.framed_forces(); }

    // --- functions that wait, and throw like GpuLayout::synchronize()

    void synchronize() { layout_.synchronize(); }
    void wait(const GpuEvent& event); // event: of a queue on the first GPU
    std::string test_links();         // returns the measured links between GPUs of this process, as text; may be empty
    // Gives every rank its atoms. Throws InputError E633 if a rank has so many atoms that there is no capacity for its halo.
    void deal_out();
    void put_back(const GpuSnapshot<N>& snapshot);
    // Discards all graphs. Call it after a change of the list plan's intervals.
    void forget_graphs();
    // Grows memory after overflow flags. On Growth::Made put_back() must follow; otherwise the run cannot continue on GPUs.
    Growth grow_capacity(std::uint32_t flags);
    // Computes the kinetic energy of the present velocities. Call it after a step that did not compute it.
    void measure_kinetic();

private:
    GpuProcesses& processes_;
    GpuLayout<N> layout_;
    GpuReplayer<N> replayer_;
};

} // namespace parhelion
