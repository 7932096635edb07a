// SPDX-License-Identifier: Apache-2.0
// Forces, energies and virial of a system with PME on one CPU: of the mesh, with the pairs, with all terms.
#pragma once

#include "interactions/bonded/bonded.hpp"
#include "interactions/mesh/mesh.hpp"
#include "interactions/pair/dispersion.hpp"
#include "interactions/pair/nonbonded.hpp"
#include "pairs/cluster_order.hpp"
#include "support/particles.hpp"

#include <vector>

namespace parhelion::test {

struct MeshResult
{
    std::vector<Vec3<double>> forces;
    EnergyVirial energies;
};

enum class Parts
{
    Mesh,
    Coulomb, // mesh and pairs
    All
};

template <class N>
MeshResult evaluate(const System& system, const RunParameters& run, Parts parts, int threads = 2)
{
    const Topology& topology = system.topology;
    CpuQueue queue(threads);
    auto state = make_state<N>(system, {}, queue);
    PairList list;
    build_pair_list(queue, state, topology, run.coulomb_cutoff, list);
    Mesh<N> mesh(topology, run, system.box);
    NonbondedTables<N> nonbonded(make_nonbonded(topology, run));
    const BondedTables bonded = make_bonded(topology, run);
    const Compute compute = Compute::ForcesEnergiesVirial;

    ForceBuffers<N> buffers;
    clear_forces(queue, buffers, state.slots());
    compute_mesh(queue, mesh, state, buffers, compute);
    for (const MeshParameters& parameters : dispersion_mesh_parameters(topology, run, system.box))
    {
        Mesh<N> of_dispersion(parameters);
        compute_mesh(queue, of_dispersion, state, buffers, compute);
    }
    if (parts != Parts::Mesh) { compute_nonbonded(queue, nonbonded, list, state, buffers, compute); }
    if (parts == Parts::All) { compute_bonded(queue, bonded, all_terms(bonded, topology), state, buffers, compute); }
    sum_forces(queue, buffers, state);

    MeshResult result{forces_of(state), sum_energies(buffers).result()};
    if (parts == Parts::All)
    {
        const DispersionTail tail = make_dispersion_correction(topology, run);
        result.energies[EnergyTerm::DispersionCorrection] = tail.energy(state.box.edges().volume());
    }
    return result;
}

} // namespace parhelion::test
