// SPDX-License-Identifier: Apache-2.0
// Position restraints: an atom is held at a place, or kept within or out of a region about it. With x - X the minimum image:
//   harmonic        V = 1/2 sum k_d (x_d - X_d)^2 over the three axes
//   flat-bottomed   V = 1/2 k (r - R)^2 for r > R, inverted for r < R. r is the length of x - X along the restrained axes: three
//                   for a sphere, two for a cylinder, one for a layer (GROMACS manual, "Flat-bottomed position restraints")
//
// The reference position X follows the box as refcoord-scaling asks. With box edges L now and L0 when the reference was taken:
//   none  X = X0                          all  X = X0 L/L0                    com  X = C L/L0 + (X0 - C)
// C is the centre of mass of reference positions, without periodic images, in the first molecule of each row of like molecules.
// All three forms are stored as X = fraction * L + offset. The virial is half the derivative of the energy by a strain of each
// edge, -1/2 (x_d - X_d + offset_d) f_d on the diagonal. Other elements are 0, since no box is sheared. With `none`, offset is
// the position itself, so the pressure depends on the origin. This agrees with GROMACS, by comparison of results. Cost: one
// conversion of X to fixed point per restrained atom and step.
#pragma once

#include "interactions/force_buffers.hpp"
#include "model/run_parameters.hpp"
#include "model/system.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

// An atom and its reference position.
struct HeldAtom
{
    std::int64_t atom = 0;         // global
    Vec3<double> fraction, offset; // the reference position is `fraction` times the box plus `offset` (nm)
};

struct PositionRestraint : HeldAtom
{
    static constexpr InteractionKind kind = InteractionKind::PositionRestraint;
    Vec3<double> k; // kJ/mol/nm^2
};

struct FlatBottomRestraint : HeldAtom
{
    static constexpr InteractionKind kind = InteractionKind::FlatBottomRestraint;
    Vec3<double> axes; // for each axis, 1: restrained, 0: free
    double radius = 0; // nm
    bool is_inverted = false;
    double k = 0; // kJ/mol/nm^2
};

struct PositionRestraints
{
    std::vector<PositionRestraint> list; // both lists are in input order
    std::vector<FlatBottomRestraint> flat_bottomed;
};

// Returns the position restraints of the system. Reference positions are system.restraint_reference in
// the box system.restraint_reference_box or, if these are empty, the system's positions in its box.
PositionRestraints make_position_restraints(const System& system, const RunParameters& parameters);

// Adds forces, energies and virial of restrained home atoms to the buffers. Requires that clear_forces() was called.
template <class N>
void compute_position_restraints(CpuQueue& queue, const PositionRestraints& restraints, const ParticleState<N>& state,
                                 ForceBuffers<N>& buffers, Compute compute);

} // namespace parhelion
