// SPDX-License-Identifier: Apache-2.0
#include "engine/gpu/processes.hpp"

#include "base/error.hpp"
#include "comm/launch/launch_processes.hpp"
#include "engine/deadline_pause.hpp"

#include <algorithm>
#include <exception>
#include <span>
#include <utility>

namespace parhelion {

GpuProcesses::GpuProcesses(const SimulationOptions& options)
    : has_heap_(options.transport == TransportKind::Nvshmem), heap_options_{.bytes = 0,
                                                                            .are_on_one_host = options.are_on_one_host(),
                                                                            .ranks_of_domain =
                                                                                options.nodes ? options.nodes->ranks_per_node : 0,
                                                                            .deadline = options.comm_timeout}
{
    if (options.processes == 1) { return; }
    WorldOptions world;
    world.deadline = options.comm_timeout;
    world.payload_bytes = std::size_t{1} << 22;
    world.tag_name = "segment";
    world_.emplace(options.network(options.ranks_asked_for()), world);
    const int here = world_->here().first;
    leading_.clear();
    for (int p = 0; p < options.processes; ++p)
    {
        leading_.push_back(ranks_of_process(p, {.processes = options.processes, .ranks = world_->ranks()}).first);
    }
    PARHELION_EXPECTS(std::count(leading_.begin(), leading_.end(), here) == 1);
    self_.emplace(world_->communicator(here));
    leaders_.emplace(self_->group(leading_));
}

// A process must not end while others put data into its memory. The wait has no deadline, because
// the first process may still write files. If a process is lost, the wait ends with an error.
GpuProcesses::~GpuProcesses()
{
    if (heap_ == nullptr || std::uncaught_exceptions() > 0) { return; }
    try
    {
        const DeadlinePause pause(this);
        leaders_->barrier();
    }
    catch (const SystemError&) // another process has failed; this process has ended well
    {
    }
}

GpuHeap* GpuProcesses::make_heap(std::size_t bytes)
{
    if (world_ && has_heap_)
    {
        heap_options_.bytes = bytes;
        heap_ = std::make_unique<GpuHeap>(world_->bootstrap(), heap_options_);
    }
    return heap_.get();
}

void GpuProcesses::meet()
{
    if (leaders_) { leaders_->barrier(); }
}

std::int64_t GpuProcesses::of_first(std::int64_t value)
{
    if (!leaders_) { return value; }
    if (leaders_->place() != 0) { value = 0; }
    leaders_->sum(std::span(&value, 1));
    return value;
}

std::int64_t GpuProcesses::largest(std::int64_t value)
{
    if (leaders_) { leaders_->max(std::span(&value, 1)); }
    return value;
}

double GpuProcesses::sum(double value)
{
    if (leaders_) { leaders_->sum(std::span(&value, 1)); }
    return value;
}

void GpuProcesses::pause_deadlines()
{
    if (self_) { self_->pause_deadlines(); }
}
void GpuProcesses::resume_deadlines()
{
    if (self_) { self_->resume_deadlines(); }
}

void GpuProcesses::on_loss(World::OnLoss listener)
{
    if (world_) { world_->on_loss(std::move(listener)); }
}

} // namespace parhelion
