// SPDX-License-Identifier: Apache-2.0
// Declares to nonbonded.cpp the interface of the kernels of one numeric policy.
#pragma once

#include "base/box.hpp"
#include "interactions/pair/nonbonded.hpp"

namespace parhelion::nonbonded {

template <class N>
struct KernelArgs
{
    using Real = typename N::Real;

    const PairRow* rows = nullptr;
    const PairRow* rows_end = nullptr;
    const PairEntry* entries = nullptr;
    const typename N::Fixed* x = nullptr;
    const Real* slot_parameters = nullptr;
    const Real* mesh_parameters = nullptr; // NonbondedTables::mesh_slot_parameters(); for LJ-PME only
    const std::int32_t* slot_types = nullptr;
    const Real* pair_parameters = nullptr;
    std::int32_t types = 0;  // number of atom types, including the type of fillers
    Box<double> nm_per_unit; // nm per unit of fixed-point positions
    Vec3<double> edge;       // the diagonal of the box, nm
    bool is_low = false;     // Box::is_low()
    const NonbondedParameters* parameters = nullptr;
    LjRule rule = LjRule::Table;
    Compute compute = Compute::Forces;
    typename N::ForceSum* f = nullptr;
    EnergySums<N>* energies = nullptr;
};

// Adds the forces of the rows of a pair list and, on request, energies and virial.
template <class N>
void compute_rows(const KernelArgs<N>& args);

} // namespace parhelion::nonbonded
