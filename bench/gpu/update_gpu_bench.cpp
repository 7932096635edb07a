// SPDX-License-Identifier: Apache-2.0
// Time of the update and of bonded forces on a GPU, for a lone rank or one of several on a GPU of its own, and of finding out
// what is the rank's.
//   update_gpu_bench [--atoms 45000] [--grid 1 1 1]
// One JSON line: microseconds a call, the shortest of many short graphs, so that other programs on the GPU disturb little.
#include "dynamics/gpu/update_gpu.hpp"
#include "dynamics/leap_frog.hpp"
#include "halo/gpu/copies.hpp"
#include "interactions/bonded/gpu/bonded_gpu.hpp"
#include "rank_state.hpp"
#include "series_timing.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

using namespace parhelion;

namespace {

struct Request
{
    std::int64_t atoms = 45000;
    std::array<int, 3> grid{1, 1, 1};
    double list_cutoff = 1.1;
    int repetitions = 400;
};

void measure(const Request& request)
{
    using N = Mixed;
    const LoadedInput input = load_size(request.atoms);
    const Topology& topology = input.system.topology;
    const RunParameters& parameters = input.parameters;
    GpuQueue queue;
    const UpdateGroups groups = make_update_groups(topology);
    const GpuCell cell =
        make_gpu_cell({request.grid}, 0, input.system.box, request.list_cutoff, longest_overhang(topology, groups));
    GpuState<N> state = make_rank_state<N>(queue, input, groups, cell);

    GpuUpdate update(queue, make_update_blocks(topology, {parameters.lincs_order, parameters.lincs_iterations}), parameters);
    GpuBonded bonded(queue, make_bonded(topology, parameters), {}, topology);
    const auto list_groups = [&] { update.forget(queue, state.slots, cell), update.resolve(queue, state); };
    const auto list_terms = [&] { bonded.forget(queue), bonded.resolve(queue, state, cell); };
    list_groups(), list_terms();
    DeviceBuffer<GroupKick> kick;
    DeviceBuffer<FailureReport> failure(1);
    DeviceBuffer<ScalarSum<N>> virial(9);
    kick.upload(queue, std::vector<GroupKick>(2, {{1, 1, 1}, 0})); // forces of many calls may add up
    failure.clear(queue), virial.clear(queue);
    UpdateArgs<N, CopyTask<N>> args;
    args.dt = 1e-6; // atoms stay where they are
    args.kick = kick.data();
    args.limits = {1e12, 1};
    args.failure = failure.data();
    UpdateArgs<N, CopyTask<N>> with_virial = args;
    with_virial.virial = virial.data();

    constexpr int calls = 20;
    const auto shortest_us = [&](const auto& work) { return sorted_us(queue, request.repetitions, calls, work).front(); };
    const double update_us = shortest_us([&] { update.step(queue, args, state); });
    const double virial_us = shortest_us([&] { update.step(queue, with_virial, state); });
    const double bonded_us = shortest_us([&] { compute_bonded(queue, bonded, state, Compute::Forces); });
    const double energies_us = shortest_us([&] { compute_bonded(queue, bonded, state, Compute::ForcesEnergiesVirial); });
    const double list_groups_us = shortest_us(list_groups);
    const double list_terms_us = shortest_us(list_terms);
    fmt::print(R"({{"gpu": "{}", "atoms": {}, "grid": "{}x{}x{}", "slots": {}, "update_us": {:.2f}, "update_virial_us": {:.2f}, )"
               R"("bonded_us": {:.2f}, "bonded_energies_us": {:.2f}, "list_groups_us": {:.2f}, "list_terms_us": {:.2f}}})"
               "\n",
               queue.name(), request.atoms, request.grid[0], request.grid[1], request.grid[2], state.slots, update_us, virial_us,
               bonded_us, energies_us, list_groups_us, list_terms_us);
}

} // namespace

int main(int argc, char** argv)
{
    CLI::App app("Measures update and bonded forces of a rank on a GPU");
    Request request;
    app.add_option("--atoms", request.atoms, "a size of the series");
    app.add_option("--grid", request.grid, "cells along x, y, z");
    app.add_option("--list-cutoff", request.list_cutoff, "nm");
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
