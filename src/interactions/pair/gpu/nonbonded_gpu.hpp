// SPDX-License-Identifier: Apache-2.0
// Lennard-Jones and electrostatic forces of the pairs in a GPU's pair list: the formulas and options of
// interactions/pair/nonbonded.hpp. The kernels are in nonbonded_gpu_kernel.cuh, one file per numeric policy instantiates them.
#pragma once

#include "interactions/pair/nonbonded.hpp"
#include "interactions/pair/screening_quotient.hpp"
#include "pairs/gpu/pair_list_gpu.hpp"

namespace parhelion {

// What the rule needs of one atom: sqrt(6 c6) and sqrt(12 c12), sigma / 2 and sqrt(24 epsilon), or (Table) its type and 0.
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
    ScreeningQuotient quotient;               // of screened pairs
    DeviceBuffer<LjParameters<Real>> of_type; // the last is the fillers'
    DeviceBuffer<LjParameters<Real>> of_pair; // 6 c6 and 12 c12 of [a * (types + 1) + b]; Table only
    DeviceBuffer<LjParameters<Real>> of_slot;
};

// Looks up tables.of_slot for the present order of atoms: call after take_atoms().
template <class N>
void resolve_nonbonded(GpuQueue& queue, const GpuState<N>& state, GpuNonbondedTables<N>& tables);

// Adds the forces to state.f and, on request, the energies LjSr and CoulombSr and the virial to state.energies; the self energy
// of home atoms comes with the local list. Preconditions: the list pruned, and the tables resolved, for
// this order of atoms; 2 * cutoff <= every box edge. Pairs nearer than 3e-3 nm are computed as at that distance.
template <class N>
void compute_nonbonded(GpuQueue& queue, const GpuNonbondedTables<N>& tables, const GpuPairList& list, GpuState<N>& state,
                       Compute compute);

} // namespace parhelion
