// SPDX-License-Identifier: Apache-2.0
// Fixed distances: rigid water by SETTLE, everything else by LINCS.
//
// The idea: constraints act on velocities, not on a second set of positions. Given x(t), which satisfies the constraints, and
// velocities v after the kick, apply() changes v by forces along the bonds of x(t) until x(t) + v dt satisfies them. drift() then
// needs to know nothing of constraints, a filler atom nothing of molecules, and both time directions (dt < 0) are the same code.
//
// Everything is prepared once per molecule type. Which waters and groups of which copies a rank constrains is a list, its
// *assignment*; the atoms of each are in one update group (model/update_groups.hpp), so that they are all home. The list is
// shared out over threads, and no result depends on the number of threads or ranks. Arithmetic in double in every policy.
//
//   SETTLE  Miyamoto and Kollman, J. Comput. Chem. 13, 952 (1992): closed form.
//   LINCS   Hess, Bekker, Berendsen, Fraaije, J. Comput. Chem. 18, 1463 (1997); Hess, J. Chem. Theory Comput. 4, 116 (2008):
//           the inverse of the constraint coupling matrix as a power series, and iterations for the rotation of the bonds.
#pragma once

#include "device/cpu_queue.hpp"
#include "dynamics/lincs.hpp"
#include "dynamics/settle.hpp"
#include "model/run_parameters.hpp"
#include "model/topology.hpp"
#include "state/molecules.hpp"
#include "state/particle_state.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace parhelion {

enum class Virial : std::uint8_t
{
    Skip,
    Compute
};

// The masses that constraint forces act against. Minimisation moves all atoms alike.
enum class ConstraintMasses : std::uint8_t
{
    Physical,
    Equal
};

// A water or group of coupled constraints of a copy, by its index in the molecule type.
struct ConstraintPlace
{
    std::int32_t first_atom, index;
};

struct ConstraintAssignment
{
    struct ByMethod
    {
        std::vector<ConstraintPlace> waters; // by index, then copy: neighbours in a batch are alike
        std::vector<ConstraintPlace> groups;
    };
    std::vector<ByMethod> molecule_types;
};

// What became of this rank's constraints. Results of ranks are combined by +=.
template <class N>
struct ConstraintResult
{
    std::array<ScalarSum<N>, 9> virial_sum{}; // row by row; zero unless asked for
    ScalarSum<N> deviation_squares{};         // of LINCS' bonds, as deviation_square(); zero unless the virial is asked for

    double largest_deviation = 0; // of a bond of LINCS from its length, relative
    // Constraints that could not be satisfied: a bond is off by more than LincsSettings::failed or turned by more than
    // lincs-warnangle, a water moved too far for SETTLE, or a number is not finite. The worst one: the atoms of the largest angle
    // (of equal ones, the lowest global atoms).
    std::int64_t failures = 0;
    std::int64_t worst_atom_a = -1, worst_atom_b = -1; // global
    double worst_angle = 0;                            // degrees
    double worst_deviation = 0;                        // of that one, relative; 0 of a water

    // -1/2 sum r (x) f of the constraint forces, kJ/mol.
    Mat3<double> virial() const
    {
        Mat3<double> v;
        for (int i = 0; i < 9; ++i) { v[i / 3][i % 3] = from_sum(virial_sum[static_cast<std::size_t>(i)]); }
        return v;
    }
    ConstraintResult& operator+=(const ConstraintResult& other);
};

// Constraints that LINCS keeps, over all copies: those that are no settles.
std::int64_t lincs_constraint_count(const Topology& topology);

class Constraints
{
public:
    // Reads constraints, settles and masses of the molecule types and lincs_* of the parameters. Throws InputError E620 if a
    // constrained atom has no mass, E621 if the hydrogens of a rigid water differ in mass.
    Constraints(const Topology& topology, const RunParameters& parameters, ConstraintMasses masses = ConstraintMasses::Physical);

    // Every constraint of the system: the assignment of a single rank.
    ConstraintAssignment assign_all(const Topology& topology) const;
    // The constraints of `copies` whose atoms are home, for is_home(global atom); of each water or group only one atom is asked
    // for.
    ConstraintAssignment assign(const MoleculeList& copies, const std::function<bool(std::int32_t)>& is_home) const;

    // All that follow work on the constraints assigned, whose atoms must be home. Changes state.v so that state.x + dt state.v
    // satisfies the constraints. dt != 0, of either sign. state.x is the reference: it should satisfy the constraints to within a
    // few per cent.
    template <class N>
    ConstraintResult<N> apply(CpuQueue& queue, const ConstraintAssignment& assignment, ParticleState<N>& state, double dt,
                              Virial virial) const;

    // Removes from `vectors` (velocities, or forces with Equal masses) what would change a constrained distance of state.x, to
    // rounding. Of what is removed from forces the virial is had, if it is asked for: that of the constraint forces on atoms at
    // rest. Throws InputError E158 if the constraints of a group depend on each other.
    template <class N, class T>
    ConstraintResult<N> project(CpuQueue& queue, const ConstraintAssignment& assignment, const ParticleState<N>& state,
                                ClusterArray<T>& vectors, Virial virial = Virial::Skip) const;

private:
    struct TypeConstraints
    {
        std::string name; // of the molecule type
        std::vector<SettleWater> waters;
        std::vector<LincsGroup> water_groups; // each water as three constraints
        std::vector<LincsGroup> groups;       // one per set of coupled constraints
    };

    // Calls body(molecule type, group, first atom) for this thread's share of all that is assigned, waters as groups.
    template <class Body>
    void for_every_group(const CpuQueue& queue, int thread, const ConstraintAssignment& assignment, Body&& body) const;

    std::vector<TypeConstraints> types_; // by molecule type
    LincsSettings lincs_;
    double warn_cosine_ = 0; // of lincs-warnangle
};

// Moves state.x itself onto the constraints, directions from state.x; state.v is left alone. For the start of a run without
// `continuation`.
template <class N>
ConstraintResult<N> constrain_positions(CpuQueue& queue, const Constraints& constraints, const ConstraintAssignment& assignment,
                                        ParticleState<N>& state);

// The start of a leap-frog run without `continuation`, as GROMACS does it: positions onto the constraints, velocities without
// components along them, then v(-dt/2) such that x(-dt) = x - dt v satisfies them too.
template <class N>
ConstraintResult<N> constrain_start(CpuQueue& queue, const Constraints& constraints, const ConstraintAssignment& assignment,
                                    ParticleState<N>& state, double dt);

} // namespace parhelion
