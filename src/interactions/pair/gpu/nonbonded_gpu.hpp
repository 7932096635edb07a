// SPDX-License-Identifier: Apache-2.0
// Lennard-Jones and electrostatic forces of the pairs in a GPU's pair list, with the formulas and options of
// interactions/pair/nonbonded.hpp. The kernels are in nonbonded_gpu_kernel.cuh. One file per numeric policy compiles them.
#pragma once

#include "interactions/pair/nonbonded.hpp"
#include "interactions/pair/screening_quotient.hpp"
#include "pairs/gpu/pair_list_gpu.hpp"

namespace parhelion {

// The parameters of an atom: sqrt(6 c6), sqrt(12 c12); or sigma / 2, sqrt(24 epsilon); or, for LjRule::Table, its type and 0.
template <class Real>
struct alignas(2 * sizeof(Real)) LjParameters
{
    Real first, second;
};

template <class N>
struct GpuNonbondedTables
{
    using Real = typename N::Real;

    GpuNonbondedTables(GpuQueue& queue, const NonbondedTables<N>& tables);

    NonbondedParameters parameters;
    ScreeningQuotient quotient;               // for screened pairs only
    DeviceBuffer<LjParameters<Real>> of_type; // by atom type; the last type is that of fillers
    DeviceBuffer<LjParameters<Real>> of_pair; // 6 c6 and 12 c12 at [a * (types + 1) + b]; for LjRule::Table only
    DeviceBuffer<LjParameters<Real>> of_slot;
    // Parameters by lj-pme-comb-rule, as NonbondedTables::mesh_type_parameters(), by type and by slot; for LJ-PME only.
    DeviceBuffer<LjParameters<Real>> mesh_of_type, mesh_of_slot;
};

// Sets tables.of_slot for the present order of atoms. Call it after take_atoms().
template <class N>
void resolve_nonbonded(GpuQueue& queue, const GpuState<N>& state, GpuNonbondedTables<N>& tables);

// Adds forces to state.f. On request adds the energies LjSr and CoulombSr and the virial to state.energies. The self
// energy of home atoms is added with the local list. Requires a pruned list, resolve_nonbonded() for this order of atoms, and 2 *
// cutoff <= every box edge. Pairs nearer than 3e-3 nm have the forces at that distance.
template <class N>
void compute_nonbonded(GpuQueue& queue, const GpuNonbondedTables<N>& tables, const GpuPairList& list, GpuState<N>& state,
                       Compute compute);

} // namespace parhelion
