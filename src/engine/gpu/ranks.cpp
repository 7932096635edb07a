// SPDX-License-Identifier: Apache-2.0
#include "engine/gpu/ranks.hpp"

#include "base/error.hpp"
#include "comm/gpu/self_test.hpp"
#include "engine/gpu/step_gpu.hpp"

#include <fmt/format.h>
#include <vector>

namespace parhelion {

template <class N>
GpuRanks<N>::GpuRanks(const PreparedRun<N>& run, const ListPlan& list_plan, const SimulationOptions& options, std::size_t records,
                      GpuProcesses& processes, const GpuWorldOptions& world)
    : processes_(processes), layout_(run, list_plan, options, records, processes, world), replayer_(layout_)
{
}

template <class N>
void GpuRanks<N>::report(DeviceScalars& scalars)
{
    run_together<N>(layout_.here(), [](GpuRank<N>& r) { return agree_on_flags(r); });
    gpu_memory::to_host(queue(), &scalars, layout_.first_rank().state.scalars.data(), sizeof(DeviceScalars));
}

template <class N>
void GpuRanks<N>::keep_state(GpuSnapshot<N>& snapshot)
{
    run_together<N>(layout_.here(), [&](GpuRank<N>& r) { return keep_atoms(r, snapshot); });
}

template <class N>
void GpuRanks<N>::put_back_in_place(const GpuSnapshot<N>& snapshot)
{
    PARHELION_EXPECTS(layout_.ranks() == 1);
    GpuRank<N>& r = layout_.first_rank();
    put_back_atoms_in_place(queue(), snapshot, r.state);
    put_back_coupling(queue(), snapshot, r.state, r.coupling);
}

// --- functions that wait

template <class N>
std::string GpuRanks<N>::test_links()
{
    return layout_.gpus_here() > 1 && !processes_.are_several() && !layout_.has_nodes() ? describe(self_test(layout_.world()))
                                                                                        : "";
}

template <class N>
void GpuRanks<N>::wait(const GpuEvent& event)
{
    layout_.world().wait(layout_.world().here().first, event);
    layout_.world().check();
}

template <class N>
void GpuRanks<N>::put_back(const GpuSnapshot<N>& snapshot)
{
    synchronize();
    processes_.meet(); // from here on no rank publishes atoms
    put_back_atoms(queue(), snapshot, layout_.exchange_buffers_here());
    synchronize();
    for_each_rank<N>(layout_.here(),
                     [&](GpuWithRanks<N>& gpu, GpuRank<N>& r) { put_back_coupling(gpu.queue, snapshot, r.state, r.coupling); });
    layout_.take_from_exchange_buffers();
    layout_.make_room_for_repartition();
    synchronize();
    processes_.meet(); // no rank publishes new atoms before all have taken the restored ones
}

template <class N>
void GpuRanks<N>::deal_out()
{
    // Atoms without a slot are missing in the first snapshot, too, so there would be no state to restore. They must fit now.
    for (;;)
    {
        layout_.take_from_exchange_buffers();
        synchronize();
        bool fits = true;
        std::vector<DeviceScalars> scalars;
        for_each_rank<N>(layout_.here(), [&](GpuWithRanks<N>& gpu, GpuRank<N>& r) {
            scalars.push_back(r.state.scalars.to_vector(gpu.queue)[0]);
            fits = fits && (scalars.back().flags & gpu_flag_slot_overflow) == 0;
        });
        if (processes_.all(fits)) { break; }
        const double density_factor = layout_.density_factor();
        if (grow_capacity(gpu_flag_slot_overflow) != Growth::Made)
        {
            const CellGrid& grid = layout_.grid();
            throw InputError("E633", {},
                             fmt::format("the grid {}x{}x{} divides the atoms too unevenly for GPUs: a rank has more than {:.1f} "
                                         "times as many as it would have at the mean density, and there is no room for its "
                                         "halo. Use fewer ranks, or a grid whose cells hold about as many atoms each.",
                                         grid.cells[0], grid.cells[1], grid.cells[2], density_factor));
        }
        auto of_rank = scalars.begin();
        for_each_rank<N>(layout_.here(), [&](GpuWithRanks<N>& gpu, GpuRank<N>& r) {
            of_rank->flags = 0;
            r.state.scalars.upload(gpu.queue, {&*of_rank++, 1});
        });
        synchronize();
    }
    layout_.make_room_for_repartition(); // all memory is then allocated when the plan is reported
    synchronize();
    processes_.meet(); // no rank publishes atoms before other ranks have taken these
}

template <class N>
void GpuRanks<N>::measure_kinetic()
{
    StepTasks flags;
    flags.kinetic = true;
    run_together<N>(layout_.here(), [&](GpuRank<N>& r) { return finish_step(r, 0, flags); });
    synchronize();
}

template <class N>
void GpuRanks<N>::forget_graphs()
{
    synchronize();
    replayer_.forget_graphs();
}

template <class N>
Growth GpuRanks<N>::grow_capacity(std::uint32_t flags)
{
    synchronize();
    replayer_.forget_memory();
    return layout_.grow(flags);
}

#define PARHELION_INSTANTIATE(N) template class GpuRanks<N>;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
