// SPDX-License-Identifier: Apache-2.0
// Position restraints: an atom is held at a place, or kept within or out of a region about it. With x - X the minimum image,
//   harmonic        V = 1/2 sum k_d (x_d - X_d)^2 over the three axes
//   flat-bottomed   V = 1/2 k (r - R)^2 for r > R, inverted for r < R; r is the length of x - X in the axes that count: three for
//                   a sphere, two for a cylinder, one for a layer (GROMACS manual, "Flat-bottomed position restraints")
//
// The reference position X follows the box as refcoord-scaling asks. With box edges L now and L0 when the reference was taken:
//   none  X = X0                          all  X = X0 L/L0                    com  X = C L/L0 + (X0 - C)
// C is the centre of mass of the reference positions in the first of every row of like molecules, periodicity not considered.
// All three are X = fraction * L + offset, so that is what is kept. The virial is half the derivative of the energy with respect
// to a strain of each edge, -1/2 (x_d - X_d + offset_d) f_d on its diagonal, and nothing beside it, as no box is sheared; with
// `none`, offset is the position itself, and the pressure depends on where the origin is. All as in GROMACS, measured with it.
// Cost: one conversion of X to fixed point per restrained atom and step.
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
    Vec3<double> fraction, offset; // the reference position is that of the fraction of the box, and `offset` (nm)
};

struct PositionRestraint : HeldAtom
{
    static constexpr InteractionKind kind = InteractionKind::PositionRestraint;
    Vec3<double> k; // kJ/mol/nm^2
};

struct FlatBottomRestraint : HeldAtom
{
    static constexpr InteractionKind kind = InteractionKind::FlatBottomRestraint;
    Vec3<double> axes; // 1: counts, 0: does not
    double radius = 0; // nm
    bool is_inverted = false;
    double k = 0; // kJ/mol/nm^2
};

struct PositionRestraints
{
    std::vector<PositionRestraint> list; // in input order, as the next
    std::vector<FlatBottomRestraint> flat_bottomed;
};

// Reference positions: system.restraint_reference in system.restraint_reference_box, or, if empty, the positions in the box of
// the system.
PositionRestraints make_position_restraints(const System& system, const RunParameters& parameters);

// Adds forces, energies and virial of the restrained home atoms. Requires clear_forces() before.
template <class N>
void compute_position_restraints(CpuQueue& queue, const PositionRestraints& restraints, const ParticleState<N>& state,
                                 ForceBuffers<N>& buffers, Compute compute);

} // namespace parhelion
