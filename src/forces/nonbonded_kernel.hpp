// SPDX-License-Identifier: Apache-2.0
// What nonbonded.cpp hands to the kernels of one policy.
#pragma once

#include "forces/nonbonded.hpp"

namespace parhelion::nonbonded {

// How a difference of positions is formed.
//   Exact    from the two fixed-point numbers: a function of the pair alone, correct in every box.
//   Centred  j is converted once per entry, relative to the middle of the i atoms, and differences are floating-point: three
//   conversions
//            instead of twelve. Needs the list's reach to be less than half the box.
enum class Difference : std::uint8_t
{
    Exact,
    Centred
};

template <class N>
struct KernelArgs
{
    using Real = typename N::Real;

    const PairRow* rows = nullptr;
    const PairRow* rows_end = nullptr;
    const PairEntry* entries = nullptr;
    const typename N::Fixed* x = nullptr;
    const Real* slot_parameters = nullptr;
    const std::int32_t* slot_types = nullptr;
    const Real* pair_parameters = nullptr;
    std::int32_t types = 0; // with the fillers'
    Vec3<double> nm_per_unit;
    const NonbondedParameters* parameters = nullptr;
    LjRule rule = LjRule::Table;
    Difference difference = Difference::Exact;
    Compute compute = Compute::Forces;
    ScalarSum<N>* f = nullptr;
    EnergySums<N>* energies = nullptr;
};

// Adds forces (and energies) of the rows.
template <class N>
void compute_rows(const KernelArgs<N>& args);

} // namespace parhelion::nonbonded
