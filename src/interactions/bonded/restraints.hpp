// SPDX-License-Identifier: Apache-2.0
// Position restraints: V = 1/2 sum k_d (x_d - X_d)^2 over the three axes, x - X being the minimum image.
//
// The reference position X follows the box as refcoord-scaling asks. With box edges L now and L0 when the reference was taken:
//   none  X = X0                          all  X = X0 L/L0                    com  X = C L/L0 + (X0 - C)
// C is the centre of mass of all reference positions, periodicity not considered. All three are X = fraction * L + offset, so
// that is what is kept. The virial is half the derivative of the energy with respect to a strain of each edge, -1/2 (x_d - X_d +
// offset_d) f_d on its diagonal, and nothing beside it, as no box is sheared; with `none`, offset is the position itself, and the
// pressure depends on where the origin is. All as in GROMACS, but that takes for C the
// centre of the first copy of a molecule type.
// Cost: one conversion of X to fixed point per restrained atom and step.
#pragma once

#include "interactions/force_buffers.hpp"
#include "model/run_parameters.hpp"
#include "model/system.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

struct PositionRestraint
{
    std::int64_t atom = 0;         // global
    Vec3<double> k;                // kJ/mol/nm^2
    Vec3<double> fraction, offset; // reference position = fraction * box + offset (nm), component by component
};

struct PositionRestraints
{
    std::vector<PositionRestraint> list; // in input order
};

// Reference positions: system.restraint_reference in system.restraint_reference_box, or, if empty, the positions in the box of
// the system.
PositionRestraints make_position_restraints(const System& system, const RunParameters& parameters);

// Adds forces, energy and virial of the restrained home atoms. Requires clear_forces() before.
template <class N>
void compute_position_restraints(CpuQueue& queue, const PositionRestraints& restraints, const ParticleState<N>& state,
                                 ForceBuffers<N>& buffers, Compute compute);

} // namespace parhelion
