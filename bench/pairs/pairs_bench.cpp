// SPDX-License-Identifier: Apache-2.0
// Time of cluster order, pair list and pair forces, per call and per atom, for each instruction set and number of threads.
//   pairs_bench -c conf.gro -p topol.top [--threads 1 2] [--cutoff 0.9] [--pme] [--double] [--list-cutoff R --pruned-cutoff R]
// One JSON line per combination: processor time of the busiest thread, the shortest of the repetitions, because other work on the
// machine only ever adds.
#include "pairs/simd_targets.hpp" // before anything of Highway

#include "interactions/pair/nonbonded.hpp"
#include "io/input/gro.hpp"
#include "io/input/top.hpp"
#include "pairs/buffer.hpp"
#include "pairs/cluster_order.hpp"

#include <hwy/targets.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <ctime>
#include <fmt/format.h>

using namespace parhelion;

namespace {

struct Request
{
    System system;
    RunParameters run;
    ListPlan plan;
    std::vector<int> threads{1, 2};
    int repetitions = 20;
};

// Every thread's processor time: other work on the machine touches it least.
std::vector<double> now_ms(CpuQueue& queue)
{
    std::vector<double> now(static_cast<std::size_t>(queue.threads()));
    queue.run([&](int thread) {
        timespec t{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        now[static_cast<std::size_t>(thread)] = 1e3 * static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_nsec);
    });
    return now;
}

// The shortest of the repetitions, each the time of its busiest thread.
template <class Work>
double shortest_ms(CpuQueue& queue, int repetitions, const Work& work)
{
    double best = 1e30;
    for (int r = 0; r < repetitions; ++r)
    {
        const std::vector<double> begin = now_ms(queue);
        work();
        const std::vector<double> end = now_ms(queue);
        double busiest = 0;
        for (std::size_t t = 0; t < end.size(); ++t) { busiest = std::max(busiest, end[t] - begin[t]); }
        best = std::min(best, busiest);
    }
    return best;
}

template <class N>
void measure(const Request& request, int threads, std::int64_t target)
{
    hwy::SetSupportedTargetsForTest(target);
    CpuQueue queue(threads);
    ParticleState<N> state = make_state<N>(request.system, {}, queue);
    const int repetitions = request.repetitions;
    const double reorder_ms = shortest_ms(queue, repetitions, [&] { reorder(queue, state); });
    PairList list;
    const double list_ms = shortest_ms(
        queue, repetitions, [&] { build_pair_list(queue, state, request.system.topology, request.plan.cutoff, list); });
    double prune_ms = 0;
    if (request.plan.pruned_cutoff > 0)
    {
        prune_ms = shortest_ms(queue, repetitions, [&] { prune_pair_list(queue, state, request.plan.pruned_cutoff, list); });
    }
    NonbondedTables<N> tables(make_nonbonded(request.system.topology, request.run));
    ForceBuffers<N> buffers;
    clear_forces(queue, buffers, state.slots());
    const double forces_ms =
        shortest_ms(queue, 4 * repetitions, [&] { compute_nonbonded(queue, tables, list, state, buffers, Compute::Forces); });
    const double energies_ms = shortest_ms(
        queue, repetitions, [&] { compute_nonbonded(queue, tables, list, state, buffers, Compute::ForcesEnergiesVirial); });
    const auto atoms = static_cast<double>(request.system.x.size());
    const double listed = static_cast<double>(list.entries()) * half_cluster_size * cluster_size;
    fmt::print(R"({{"target": "{}", "threads": {}, "atoms": {}, "slots": {}, "list_cutoff": {:.3f}, "pruned_cutoff": {:.3f}, )",
               hwy::TargetName(target), threads, request.system.x.size(), state.slots(), request.plan.cutoff,
               request.plan.pruned_cutoff);
    fmt::print(R"("reorder_ms": {:.2f}, "list_ms": {:.2f}, "prune_ms": {:.2f}, "forces_ms": {:.2f}, "energies_ms": {:.2f}, )",
               reorder_ms, list_ms, prune_ms, forces_ms, energies_ms);
    fmt::print(R"("listed_pairs_per_atom": {:.1f}, "ns_per_entry_and_thread": {:.2f}}})"
               "\n",
               listed / atoms, 1e6 * forces_ms * threads / static_cast<double>(list.entries()));
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
    bool in_double = false, is_screened = false;
    std::vector<std::string> only;
    app.add_option("-c", coordinates, ".gro file")->required();
    app.add_option("-p", topology, ".top file")->required();
    app.add_option("--threads", request.threads, "numbers of threads");
    app.add_option("--repetitions", request.repetitions);
    app.add_option("--cutoff", cutoff, "nm");
    app.add_flag("--pme", is_screened, "screened pairs in place of reaction field; the mesh is left out");
    app.add_option("--list-cutoff", request.plan.cutoff, "nm; default: as planned");
    app.add_option("--pruned-cutoff", request.plan.pruned_cutoff, "nm; default: as planned, or not pruned with --list-cutoff");
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
        request.run.coulomb = is_screened ? CoulombKind::Pme : CoulombKind::ReactionField;
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
