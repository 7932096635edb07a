// SPDX-License-Identifier: Apache-2.0
// Time of cluster order, pair list and pair forces, per call and per atom, for each instruction set and number of threads.
//   pairs_bench -c conf.gro -p topol.top [--threads 1 2] [--cutoff 0.9] [--double] [--list-cutoff R --interval N]
// One JSON line per combination: the shortest of the repetitions, because other work on the machine only ever adds.
#include "pairs/simd_targets.hpp" // before anything of Highway

#include "forces/nonbonded.hpp"
#include "io/gro.hpp"
#include "io/top.hpp"
#include "pairs/buffer.hpp"
#include "pairs/cluster_order.hpp"

#include <hwy/targets.h>

#include <CLI/CLI.hpp>
#include <ctime>
#include <fmt/format.h>

using namespace parhelion;

namespace {

struct Request
{
    System system;
    RunParameters run;
    ListPlan plan;
    double pruned_cutoff = 0;
    std::vector<int> threads{1, 2};
    int repetitions = 20;
};

// One thread: its processor time, which other work on the machine touches least. Several: wall time.
double now_ms(int threads)
{
    timespec t{};
    clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return 1e3 * static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_nsec);
}

template <class Work>
double shortest_ms(int threads, int repetitions, const Work& work)
{
    double best = 1e30;
    for (int r = 0; r < repetitions; ++r)
    {
        const double begin = now_ms(threads);
        work();
        best = std::min(best, now_ms(threads) - begin);
    }
    return best;
}

template <class N>
void measure(const Request& request, int threads, std::int64_t target)
{
    hwy::SetSupportedTargetsForTest(target);
    CpuQueue queue(threads);
    ParticleState<N> state = make_state<N>(request.system, {}, queue);
    const MoleculeList molecules = all_molecules(request.system.topology);
    const int repetitions = request.repetitions;
    const double reorder_ms = shortest_ms(threads, repetitions, [&] { reorder(queue, state); });
    PairList list;
    const double list_ms = shortest_ms(threads, repetitions, [&] {
        build_pair_list(queue, state, request.system.topology, molecules, request.plan.cutoff, list);
    });
    double prune_ms = 0;
    if (request.pruned_cutoff > 0)
    {
        prune_ms = shortest_ms(threads, repetitions, [&] { prune_pair_list(queue, state, request.pruned_cutoff, list); });
    }
    NonbondedTables<N> tables(make_nonbonded(request.system.topology, request.run));
    ForceBuffers<N> buffers;
    clear_forces(queue, buffers, state.slots());
    const double forces_ms =
        shortest_ms(threads, 4 * repetitions, [&] { compute_nonbonded(queue, tables, list, state, buffers, Compute::Forces); });
    const double energies_ms = shortest_ms(
        threads, repetitions, [&] { compute_nonbonded(queue, tables, list, state, buffers, Compute::ForcesEnergiesVirial); });
    const auto atoms = static_cast<double>(request.system.x.size());
    const double listed = static_cast<double>(list.entries()) * half_cluster_size * cluster_size;
    fmt::print(
        R"({{"target": "{}", "threads": {}, "atoms": {}, "slots": {}, "interval": {}, "list_cutoff": {:.3f}, "reorder_ms": {:.3f}, "list_ms": {:.3f}, "prune_ms": {:.3f}, )"
        R"("forces_ms": {:.3f}, "energies_ms": {:.3f}, "listed_pairs_per_atom": {:.1f}, "ns_per_entry_and_thread": {:.2f}, "listed_gpairs_per_s": {:.3f}}})"
        "\n",
        hwy::TargetName(target), threads, request.system.x.size(), state.slots(), request.plan.interval, request.plan.cutoff,
        reorder_ms, list_ms, prune_ms, forces_ms, energies_ms, listed / atoms,
        1e6 * forces_ms * threads / static_cast<double>(list.entries()), 1e-6 * listed / forces_ms);
    std::fflush(stdout);
    hwy::SetSupportedTargetsForTest(0);
}

} // namespace

int main(int argc, char** argv)
{
    CLI::App app("Measures cluster order, pair list and pair forces");
    std::string coordinates, topology;
    Request request;
    double cutoff = 0.9;
    bool in_double = false;
    std::vector<std::string> only;
    app.add_option("-c", coordinates, ".gro file")->required();
    app.add_option("-p", topology, ".top file")->required();
    app.add_option("--threads", request.threads, "numbers of threads");
    app.add_option("--repetitions", request.repetitions);
    app.add_option("--cutoff", cutoff, "nm");
    app.add_option("--list-cutoff", request.plan.cutoff, "nm; default: as planned");
    app.add_option("--interval", request.plan.interval, "nstlist; default: as planned");
    app.add_option("--pruned-cutoff", request.pruned_cutoff, "nm; 0: not pruned");
    app.add_option("--targets", only, "instruction sets, e.g. AVX2 (default: all)");
    app.add_flag("--double", in_double, "double precision");
    CLI11_PARSE(app, argc, argv);
    try
    {
        Diagnostics diagnostics;
        request.system.topology = read_topology(topology, {}, diagnostics);
        convert_bonds_to_constraints(request.system.topology, ConstraintMode::HBonds);
        GroFile file = read_gro(coordinates);
        request.system.box = file.box, request.system.x = std::move(file.x), request.system.v = std::move(file.v);
        request.run.dt = 0.002;
        request.run.coulomb = CoulombKind::ReactionField;
        request.run.coulomb_cutoff = request.run.lj_cutoff = cutoff;
        if (request.plan.cutoff == 0) { request.plan = plan_pair_list(request.system, request.run); }
        for (const std::int64_t target : hwy::SupportedAndGeneratedTargets())
        {
            if (!only.empty() && std::find(only.begin(), only.end(), hwy::TargetName(target)) == only.end()) { continue; }
            for (const int threads : request.threads)
            {
                if (in_double) { measure<Double>(request, threads, target); }
                else { measure<Mixed>(request, threads, target); }
            }
        }
    }
    catch (const std::exception& error)
    {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
    return 0;
}
