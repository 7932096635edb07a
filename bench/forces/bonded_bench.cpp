// SPDX-License-Identifier: Apache-2.0
// How long the bonded forces of a system take: JSON lines, one for each kind of interaction and one for all. The best of many
// evaluations, atoms in cluster order as in a run, bonds to hydrogen constrained.
//   bonded_bench -c conf.gro -p topol.top [--threads N]
#include "interactions/bonded/bonded.hpp"
#include "io/input/gro.hpp"
#include "io/input/top.hpp"
#include "pairs/cluster_order.hpp"

#include <CLI/CLI.hpp>
#include <chrono>
#include <fmt/format.h>

using namespace parhelion;

namespace {

constexpr int evaluations = 50;

template <class N>
double best_seconds(CpuQueue& queue, const BondedTables& tables, const BondedAssignment& assignment,
                    const ParticleState<N>& state)
{
    ForceBuffers<N> buffers;
    clear_forces(queue, buffers, state.slots());
    double best = 1e30;
    for (int i = 0; i < evaluations; ++i)
    {
        const auto begin = std::chrono::steady_clock::now();
        compute_bonded(queue, tables, assignment, state, buffers, Compute::Forces);
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    return best;
}

void measure(const System& system, int threads)
{
    CpuQueue queue(threads);
    const auto state = make_state<Mixed>(system, {}, queue);
    const BondedTables tables = make_bonded(system.topology, {});
    const BondedAssignment assignment = all_terms(tables, system.topology);
    for (int kind = 0; kind < interaction_kinds; ++kind)
    {
        const auto interaction = static_cast<InteractionKind>(kind);
        const auto terms = static_cast<double>(system.topology.interaction_count(interaction));
        if (terms == 0) { continue; }
        const double time = best_seconds(queue, tables, of_kind(assignment, interaction), state);
        fmt::print(R"({{"kind": {}, "terms": {}, "us": {:.1f}, "ns_per_term": {:.1f}}})"
                   "\n",
                   kind, terms, time * 1e6, time * 1e9 / terms);
    }
    fmt::print(R"({{"atoms": {}, "threads": {}, "us": {:.1f}}})"
               "\n",
               system.topology.atom_count(), threads, best_seconds(queue, tables, assignment, state) * 1e6);
}

} // namespace

int main(int argc, char** argv)
{
    CLI::App app("Measures the bonded forces of a system");
    std::string coordinates, topology;
    int threads = 1;
    app.add_option("-c", coordinates, ".gro file")->required();
    app.add_option("-p", topology, ".top file")->required();
    app.add_option("--threads", threads, "threads of the queue")->check(CLI::PositiveNumber);
    CLI11_PARSE(app, argc, argv);
    try
    {
        System system;
        Diagnostics diagnostics;
        system.topology = read_topology(topology, {}, diagnostics);
        convert_bonds_to_constraints(system.topology, ConstraintMode::HBonds);
        const GroFile structure = read_gro(coordinates);
        system.box = structure.box;
        system.x = structure.x;
        measure(system, threads);
    }
    catch (const InputError& error)
    {
        fmt::print(stderr, "{}\n", error.what());
        return 4;
    }
}
