// SPDX-License-Identifier: Apache-2.0
// Time of cluster order, pair list, pruning and pair forces on the GPU, for systems of the water/ethanol series.
//   pairs_gpu_bench [--atoms 45000 90000] [--policy mixed] [--pme] [--list-cutoff 1.0] [--pruned-cutoff 0.94]
// One JSON line per size: microseconds a call, median of the repetitions, each a graph of many calls, as in a run; the distance
// of the forces from the CPU's in double first.
#include "interactions/pair/gpu/nonbonded_gpu.hpp"
#include "pairs/cluster_order.hpp"
#include "pairs/gpu/cluster_order_gpu.hpp"
#include "series_timing.hpp"

#include <CLI/CLI.hpp>
#include <bit>
#include <cstdio>
#include <fmt/format.h>

using namespace parhelion;

namespace {

struct Request
{
    std::vector<std::int64_t> atoms{45000, 90000};
    SeriesElectrostatics electrostatics = SeriesElectrostatics::ReactionField;
    double list_cutoff = 1.0, pruned_cutoff = 0.94;
    int repetitions = 7;
};

// RMS distance of the forces from the CPU's in double, relative.
template <class N>
double force_error(GpuQueue& queue, const LoadedInput& input, const GpuState<N>& gpu)
{
    CpuQueue host(1);
    ParticleState<N> mine = make_state<N>(input.system, {}, host);
    download(queue, gpu, mine);
    System stored = input.system;
    for (std::size_t a = 0; a < stored.x.size(); ++a)
    {
        stored.x[a] = mine.box.to_nm(mine.x.get(static_cast<std::size_t>(mine.slot_of_global[a])));
    }
    ParticleState<Double> state = make_state<Double>(stored, {}, host);
    PairList list;
    build_pair_list(host, state, input.system.topology, input.parameters.lj_cutoff, list);
    NonbondedTables<Double> tables(make_nonbonded(input.system.topology, input.parameters));
    ForceBuffers<Double> buffers;
    clear_forces(host, buffers, state.slots());
    compute_nonbonded(host, tables, list, state, buffers, Compute::Forces);
    sum_forces(host, buffers, state);
    double error = 0, scale = 0;
    for (std::size_t a = 0; a < stored.x.size(); ++a)
    {
        const auto f = mine.f.get(static_cast<std::size_t>(mine.slot_of_global[a]));
        const Vec3<double> right = state.f.get(static_cast<std::size_t>(state.slot_of_global[a]));
        error += norm2(Vec3<double>{from_sum(f.x), from_sum(f.y), from_sum(f.z)} - right), scale += norm2(right);
    }
    return std::sqrt(error / scale);
}

struct Tiles
{
    double entries = 0, tiles = 0, masked = 0;
};
Tiles count_tiles(GpuQueue& queue, const GpuPairList& list)
{
    Tiles count;
    const std::vector<PairWord> entries = list.pruned.to_vector(queue);
    for (const GpuPairRow& row : list.rows.to_vector(queue))
    {
        count.entries += row.pruned, count.masked += row.masked;
        for (int e = row.begin; e < row.begin + row.pruned; ++e)
        {
            count.tiles += std::popcount(entries[static_cast<std::size_t>(e)] & 0xff);
        }
    }
    return count;
}

template <class N>
void measure(const Request& request, std::int64_t atoms, const char* policy)
{
    const LoadedInput input = load_size(atoms, request.electrostatics);
    GpuQueue queue;
    CpuQueue host(1);
    GpuState<N> state;
    upload(queue, make_state<N>(input.system, {}, host), state);
    ReorderScratch<N> scratch;
    GpuPairList list;
    const GpuExclusions exclusions = make_gpu_exclusions(queue, input.system.topology);
    GpuNonbondedTables<N> tables(queue, NonbondedTables<N>(make_nonbonded(input.system.topology, input.parameters)));
    reorder(queue, state, scratch);
    reserve_pair_list(queue, state, input.system.box, request.list_cutoff, list);
    const int r = request.repetitions;
    const double reorder_us = median_us(queue, r, 10, [&] { reorder(queue, state, scratch); });
    const double list_us = median_us(queue, r, 10, [&] { build_pair_list(queue, state, exclusions, request.list_cutoff, list); });
    const double prune_us = median_us(queue, r, 10, [&] { prune_pair_list(queue, state, request.pruned_cutoff, list); });
    resolve_nonbonded(queue, state, tables);
    state.f.clear(queue);
    compute_nonbonded(queue, tables, list, state, Compute::Forces);
    const double error = atoms <= 400000 ? force_error(queue, input, state) : -1;
    const double forces_us = median_us(queue, r, 100, [&] { compute_nonbonded(queue, tables, list, state, Compute::Forces); });
    const double energies_us =
        median_us(queue, r, 20, [&] { compute_nonbonded(queue, tables, list, state, Compute::ForcesEnergiesVirial); });
    const Tiles count = count_tiles(queue, list);
    fmt::print(R"({{"gpu": "{}", "policy": "{}", "atoms": {}, "slots": {}, "flags": {}, "force_error": {:.2e}, )", queue.name(),
               policy, atoms, state.slots, state.scalars.to_vector(queue)[0].flags, error);
    fmt::print(
        R"("list_cutoff": {}, "pruned_cutoff": {}, "entries_per_atom": {:.3f}, "tiles_per_entry": {:.2f}, "masked": {:.3f}, )",
        request.list_cutoff, request.pruned_cutoff, count.entries / static_cast<double>(atoms), count.tiles / count.entries,
        count.masked / count.entries);
    fmt::print(R"("reorder_us": {:.1f}, "list_us": {:.1f}, "prune_us": {:.1f}, "forces_us": {:.2f}, "energies_us": {:.2f}}})"
               "\n",
               reorder_us, list_us, prune_us, forces_us, energies_us);
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv)
{
    CLI::App app("Measures cluster order, pair list and pair forces on the GPU");
    Request request;
    std::string policy = "mixed";
    app.add_option("--atoms", request.atoms, "sizes of the series");
    app.add_flag_callback(
        "--pme", [&] { request.electrostatics = SeriesElectrostatics::Pme; }, "screened pairs; the mesh is left out");
    app.add_option("--list-cutoff", request.list_cutoff, "nm");
    app.add_option("--pruned-cutoff", request.pruned_cutoff, "nm");
    app.add_option("--repetitions", request.repetitions);
    app.add_option("--policy", policy)->check(CLI::IsMember({"mixed", "double", "mixed-reproducible", "double-reproducible"}));
    CLI11_PARSE(app, argc, argv);
    try
    {
        for (const std::int64_t atoms : request.atoms)
        {
            if (policy == "mixed") { measure<Mixed>(request, atoms, policy.c_str()); }
            else if (policy == "double") { measure<Double>(request, atoms, policy.c_str()); }
            else if (policy == "mixed-reproducible") { measure<MixedReproducible>(request, atoms, policy.c_str()); }
            else { measure<DoubleReproducible>(request, atoms, policy.c_str()); }
        }
    }
    catch (const std::exception& error)
    {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
    return 0;
}
