// SPDX-License-Identifier: Apache-2.0
// Time of a repartition, and of the pair forces of its two lists, of one rank of several on a GPU of its own.
//   repartition_gpu_bench [--atoms 45000] [--grid 2 2 2] [--list-cutoff 1.0] [--pruned-cutoff 0.94]
// One JSON line: microseconds a call, median of the repetitions, each a graph of many calls. The exchange buffers of all ranks
// are in this GPU's memory: what links cost is not in it. Atoms are taken from a complete exchange buffer, and what finding them
// there takes is in it.
#include "domain/gpu/grid_gpu.hpp"
#include "interactions/pair/gpu/nonbonded_gpu.hpp"
#include "pairs/cluster_order.hpp"
#include "pairs/gpu/cluster_order_gpu.hpp"
#include "series_timing.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

using namespace parhelion;

namespace {

struct Request
{
    std::int64_t atoms = 45000;
    std::array<int, 3> grid{2, 2, 2};
    double list_cutoff = 1.0, pruned_cutoff = 0.94;
    int repetitions = 7;
};

struct ListTimes
{
    GpuPairList list;
    double list_us, prune_us, forces_us;
    std::uint32_t entries;
};

template <class N>
ListTimes measure_list(GpuQueue& queue, const Request& request, const GpuExclusions& exclusions,
                       const GpuNonbondedTables<N>& tables, const GpuCell& cell, PairPart part, const Box<double>& box,
                       GpuState<N>& state)
{
    GpuPairList list;
    reserve_pair_list(queue, state, box, request.list_cutoff, part, list);
    const double list_us = median_us(queue, request.repetitions, 10,
                                     [&] { build_pair_list(queue, state, cell, exclusions, request.list_cutoff, part, list); });
    const double prune_us =
        median_us(queue, request.repetitions, 10, [&] { prune_pair_list(queue, state, request.pruned_cutoff, list); });
    const double forces_us =
        median_us(queue, request.repetitions, 100, [&] { compute_nonbonded(queue, tables, list, state, Compute::Forces); });
    const std::uint32_t entries = list.demand.to_vector(queue)[0].entries;
    return {std::move(list), list_us, prune_us, forces_us, entries};
}

// Forces of both lists beside each other, those of halo pairs first, as in a step.
template <class N>
double both_us(GpuQueue& queue, const Request& request, const GpuNonbondedTables<N>& tables, const GpuPairList& local,
               const GpuPairList& nonlocal, GpuState<N>& state)
{
    GpuQueue side(queue.device(), GpuQueue::Priority::First);
    GpuEvent forked, joined;
    return median_us(queue, request.repetitions, 100, [&] {
        forked.record(queue);
        wait_for(side, forked);
        compute_nonbonded(side, tables, nonlocal, state, Compute::Forces);
        compute_nonbonded(queue, tables, local, state, Compute::Forces);
        joined.record(side);
        wait_for(queue, joined);
    });
}

void measure(const Request& request)
{
    using N = Mixed;
    const LoadedInput input = load_size(request.atoms);
    const Box<double>& box = input.system.box;
    const Topology& topology = input.system.topology;
    GpuQueue queue;
    CpuQueue host(1);
    const UpdateGroups groups = make_update_groups(topology);
    const ParticleState<N> whole = make_state<N>(input.system, {}, host);
    const std::size_t atoms = whole.slot_of_global.size();
    const CellGrid grid{request.grid};
    const auto ranks = static_cast<std::size_t>(grid.ranks());
    DeviceBuffer<PositionCharge<N>> x(ranks * atoms);
    DeviceBuffer<VelocityMass<N>> v(ranks * atoms);
    DeviceBuffer<std::uint8_t> zone_in_buffer(ranks * atoms);
    std::vector<GpuExchangeBuffer<N>> of_ranks;
    for (std::size_t r = 0; r < ranks; ++r)
    {
        const GpuCell cell =
            make_gpu_cell(grid, static_cast<int>(r), box, request.list_cutoff, longest_overhang(topology, groups));
        of_ranks.push_back({cell, x.data() + r * atoms, v.data() + r * atoms, zone_in_buffer.data() + r * atoms});
    }
    const GpuExchangeBuffer<N> exchange_buffer = of_ranks[0];
    fill_exchange_buffer(queue, whole, exchange_buffer);
    DeviceBuffer<GpuExchangeBuffer<N>> exchange_buffers;
    exchange_buffers.upload(queue, of_ranks);
    const GpuAtomTable table = make_atom_table(queue, whole, topology, groups);
    const GpuCell& cell = exchange_buffer.cell;
    GpuState<N> state;
    TakeScratch scratch;
    reserve_slots(queue, cell, box, atoms, 1.3, state);

    const auto take = [&] {
        find_zones(queue, state, table, exchange_buffer);
        take_atoms(queue, exchange_buffer, table, scratch, state);
    };
    take();
    const double publish_us =
        median_us(queue, request.repetitions, 20, [&] { publish_atoms(queue, state, table, exchange_buffers); });
    fill_exchange_buffer(queue, whole, exchange_buffer);
    const double take_us = median_us(queue, request.repetitions, 10, take);
    GpuNonbondedTables<N> tables(queue, NonbondedTables<N>(make_nonbonded(topology, input.parameters)));
    resolve_nonbonded(queue, state, tables);
    const GpuExclusions exclusions = make_gpu_exclusions(queue, topology);
    const ListTimes local = measure_list(queue, request, exclusions, tables, cell, PairPart::Local, box, state);
    const ListTimes nonlocal = measure_list(queue, request, exclusions, tables, cell, PairPart::Nonlocal, box, state);
    const double both = both_us(queue, request, tables, local.list, nonlocal.list, state);

    const std::vector<std::int32_t> global_of_slot = state.global_of_slot.to_vector(queue);
    const std::vector<std::uint8_t> zone = state.zone_of_supercluster.to_vector(queue);
    std::size_t home = 0, halo = 0;
    for (std::size_t slot = 0; slot < state.slots; ++slot)
    {
        if (global_of_slot[slot] >= 0) { ++(zone[slot / supercluster_size] == 0 ? home : halo); }
    }
    fmt::print(R"({{"gpu": "{}", "atoms": {}, "grid": "{}x{}x{}", "list_cutoff": {}, "pruned_cutoff": {}, "flags": {}, )",
               queue.name(), atoms, request.grid[0], request.grid[1], request.grid[2], request.list_cutoff, request.pruned_cutoff,
               state.scalars.to_vector(queue)[0].flags);
    fmt::print(R"("home": {}, "halo": {}, "room": {}, "slots": {}, "superclusters": {}, "publish_us": {:.1f}, "take_us": {:.1f})",
               home, halo, state.atoms, state.slots, state.first_supercluster.to_vector(queue).back(), publish_us, take_us);
    for (const auto& [name, t] : {std::pair("local", &local), std::pair("nonlocal", &nonlocal)})
    {
        fmt::print(R"(, "{0}": {{"entries": {1}, "list_us": {2:.1f}, "prune_us": {3:.1f}, "forces_us": {4:.1f}}})", name,
                   t->entries, t->list_us, t->prune_us, t->forces_us);
    }
    fmt::print(R"(, "both_forces_us": {:.1f}}})"
               "\n",
               both);
}

} // namespace

int main(int argc, char** argv)
{
    CLI::App app("Measures the repartition of one rank of several on a GPU");
    Request request;
    app.add_option("--atoms", request.atoms, "a size of the series");
    app.add_option("--grid", request.grid, "cells along x, y, z");
    app.add_option("--list-cutoff", request.list_cutoff, "nm");
    app.add_option("--pruned-cutoff", request.pruned_cutoff, "nm");
    app.add_option("--repetitions", request.repetitions);
    CLI11_PARSE(app, argc, argv);
    try
    {
        measure(request);
    }
    catch (const std::exception& error)
    {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
    return 0;
}
