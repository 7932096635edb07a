// SPDX-License-Identifier: Apache-2.0
#include "bench/halo/halo_timing.hpp"

#include "comm/bootstraps/threads.hpp"
#include "comm/launch/run_ranks.hpp"
#include "comm/networks/networks.hpp"
#include "comm/world/world.hpp"
#include "device/helper_threads.hpp"
#include "domain/migrate.hpp"
#include "halo/halo.hpp"
#include "model/system.hpp"
#include "pairs/cluster_order.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <numeric>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace parhelion {

namespace {

constexpr double density = 100; // atoms/nm^3
constexpr double reach = HaloBox::reach;

double halo_volume(const CellGrid& grid, double edge)
{
    double cell = 1, with_halo = 1;
    for (const int cells : grid.cells)
    {
        cell *= edge / cells;
        with_halo *= edge / cells + (cells > 1 ? reach : 0);
    }
    return with_halo - cell;
}

// The edge of a cubic box whose cells have halos of so many atoms.
double box_edge(const CellGrid& grid, std::int64_t halo_atoms)
{
    double low = 2.001 * reach, high = 1000;
    while (high - low > 1e-3)
    {
        const double middle = (low + high) / 2;
        (halo_volume(grid, middle) * density < static_cast<double>(halo_atoms) ? low : high) = middle;
    }
    return low;
}

System random_atoms(double edge)
{
    System system;
    system.topology.type_names = {"A"};
    system.topology.c6 = system.topology.c12 = {0};
    MoleculeType atom;
    atom.name = "A";
    atom.atoms = {Atom{"A", 0, 0, 1.0, 0.0}};
    atom.residues = {Residue{"A", 1}};
    atom.exclusion_start = {0, 0};
    system.topology.molecule_types = {atom};
    const auto atoms = static_cast<std::int64_t>(density * edge * edge * edge);
    system.topology.blocks = {MoleculeBlock{0, atoms, 0}};
    system.topology.finish();
    system.box = {edge, edge, edge};
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> along(0, edge);
    for (std::int64_t a = 0; a < atoms; ++a) { system.x.push_back({along(random), along(random), along(random)}); }
    return system;
}

// Keeps a core busy, as a thread that computes forces does.
class BusyCore
{
public:
    explicit BusyCore(int core)
        : thread_([core](const std::stop_token& stop) {
              stay_on_core(core);
              while (!stop.stop_requested()) {}
          })
    {
    }

private:
    std::jthread thread_;
};

Network make_network(const HaloTimingOptions& options)
{
    if (!options.nodes) { return thread_network(options.ranks); }
    NicEmulation nodes = *options.nodes;
    if (options.proxies == Proxies::Sleeping) { nodes.proxies = HelperNeeds::Turns; }
    return nic_emulation_network(std::make_unique<ThreadsBootstrap>(options.ranks), nodes);
}

} // namespace

HaloBox random_box(const CellGrid& grid, double edge)
{
    System system = random_atoms(edge);
    check_grid(grid, system.box, {reach, reach, reach});
    UpdateGroups groups = make_update_groups(system.topology);
    CpuQueue loader(1);
    ParticleState<Mixed> whole = make_state<Mixed>(system, {}, loader);
    return {grid, std::move(system), std::move(groups), std::move(whole)};
}

RankWithHalo rank_with_halo(const HaloBox& box, HaloPattern pattern, Communicator& comm, CpuQueue& queue)
{
    ParticleState<Mixed> state = home_atoms(box.whole, box.grid, comm.rank(), box.system.topology, box.groups);
    reorder(queue, state, box.grid.zone(comm.rank(), {}));
    HaloPlan plan = build_halo(queue, box.grid, pattern, reach, comm, 0, state);
    return {std::move(state), std::move(plan)};
}

HaloTiming time_halo(const HaloTimingOptions& options)
{
    using N = Mixed;
    using Clock = std::chrono::steady_clock;
    const double some_edge = 20;
    const CellGrid grid = choose_grid(options.ranks, {some_edge, some_edge, some_edge}, cpu_grid_criteria({reach, reach, reach}));
    const HaloBox box = random_box(grid, box_edge(grid, options.halo_atoms));

    World world(make_network(options));
    const CoresForHelpers cores(options.ranks * options.threads);
    std::deque<BusyCore> busy;
    std::set<int> of_proxies;
    for (const HelperPlace& place : cores.places()) { of_proxies.insert(place.core); }
    for (const int core : of_proxies)
    {
        if (options.proxies != Proxies::Own && core >= 0) { busy.emplace_back(core); }
    }
    std::vector<Communicator> comms;
    for (int rank = 0; rank < options.ranks; ++rank) { comms.push_back(world.communicator(rank)); }
    HaloTiming result;
    result.helpers = helpers_text(cores.places());
    result.grid = box.grid.cells;
    std::vector<double> atoms(static_cast<std::size_t>(options.ranks)), bytes(atoms);
    std::vector<double> times;
    const auto body = [&](int rank) {
        Communicator& comm = comms[static_cast<std::size_t>(rank)];
        CpuQueue queue(options.threads);
        auto [state, made] = rank_with_halo(box, pattern_of(options.method), comm, queue);
        Halo<N> halo(options.method, comm, queue);
        halo.bind(std::move(made));
        ClusterArray<N::ForceSum> halo_forces;
        halo_forces.resize(state.slots() - state.home_slots());
        const HaloPlan& plan = halo.plan();
        atoms[static_cast<std::size_t>(rank)] = static_cast<double>(plan.halo_clusters() * cluster_size);
        std::size_t sent = 0;
        for (const HaloMessage& m : plan.messages)
        {
            sent += 3 * cluster_size *
                    (m.clusters.size() * sizeof(N::Fixed) + static_cast<std::size_t>(m.count) * sizeof(N::ForceSum));
        }
        bytes[static_cast<std::size_t>(rank)] = static_cast<double>(sent);
        for (int i = -options.exchanges / 10; i < options.exchanges; ++i)
        {
            const auto start = Clock::now();
            halo.send_coordinates(state);
            halo.return_forces(halo_forces, state);
            if (rank == 0 && i >= 0) { times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count()); }
        }
        if (rank == 0) { result.messages = static_cast<int>(plan.messages.size()); }
    };
    run_ranks(world.here(), body, [&](int rank) { comms[static_cast<std::size_t>(rank)].abort(); });

    for (std::size_t rank = 0; rank < atoms.size(); ++rank)
    {
        result.halo_atoms += atoms[rank] / static_cast<double>(atoms.size());
        result.bytes += bytes[rank] / static_cast<double>(atoms.size());
    }
    result.mean_us = std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
    std::sort(times.begin(), times.end());
    result.median_us = times[times.size() / 2];
    result.worst_tenth_us = times[times.size() * 9 / 10];
    return result;
}

} // namespace parhelion
