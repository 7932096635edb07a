// SPDX-License-Identifier: Apache-2.0
// Fixed distances: SETTLE keeps waters rigid, LINCS satisfies all other constraints.
//
// The idea: constraints act on velocities, not on a second set of positions. x(t) satisfies the constraints. apply() changes
// the velocities v after the kick, by forces along the bonds of x(t), until x(t) + v dt satisfies the constraints. So
// drift() knows nothing of constraints, fillers belong to no molecule, and one code serves both directions of time (dt < 0).
//
// Tables are made once per molecule type. A rank's *assignment* lists the waters and groups of each copy that the rank
// constrains. The atoms of a water or group are in one update group (model/update_groups.hpp), so all are home atoms.
// Threads share the list. No result depends on the number of threads or ranks. Arithmetic is in double in every policy.
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

// The masses against which constraint forces act. Minimisation uses equal masses.
enum class ConstraintMasses : std::uint8_t
{
    Physical,
    Equal
};

// A water, or a group of coupled constraints, in one copy. index: its number among those of the molecule type.
struct ConstraintPlace
{
    std::int32_t first_atom, index;
};

struct ConstraintAssignment
{
    struct ByMethod
    {
        std::vector<ConstraintPlace> waters; // sorted by index, then copy: SETTLE takes several waters of one shape at a time
        std::vector<ConstraintPlace> groups;
    };
    std::vector<ByMethod> molecule_types;
};

// The result of constraining this rank's atoms. += combines the results of ranks.
template <class N>
struct ConstraintResult
{
    std::array<ScalarSum<N>, 9> virial_sum{}; // row by row; zero unless requested
    ScalarSum<N> deviation_squares{};         // sum of deviation_square() over LINCS bonds; zero unless the virial is requested

    double largest_deviation = 0; // largest relative deviation of a LINCS bond from its length
    // The number of constraints that are not satisfied. For these a bond is off by more than LincsSettings::failed
    // or has turned by more than lincs-warnangle, a water moved too far for SETTLE, or a number is not finite. The
    // worst constraint has the largest angle and, among equal ones, the lowest global atoms.
    std::int64_t failures = 0;
    std::int64_t worst_atom_a = -1, worst_atom_b = -1; // global atoms of the worst constraint
    double worst_angle = 0;                            // degrees
    double worst_deviation = 0;                        // relative deviation of the worst constraint; 0 for a water

    // Returns the virial -1/2 sum r (x) f of the constraint forces, kJ/mol.
    Mat3<double> virial() const
    {
        Mat3<double> v;
        for (int i = 0; i < 9; ++i) { v[i / 3][i % 3] = from_sum(virial_sum[static_cast<std::size_t>(i)]); }
        return v;
    }
    ConstraintResult& operator+=(const ConstraintResult& other);
};

// Returns the number of constraints that LINCS satisfies, over all copies: all but those of settles.
std::int64_t lincs_constraint_count(const Topology& topology);

class Constraints
{
public:
    // Reads constraints, settles and masses of the molecule types, and lincs_* of the parameters. Throws
    // InputError E620 if a constrained atom has no mass, E621 if the hydrogens of a rigid water differ in mass.
    Constraints(const Topology& topology, const RunParameters& parameters, ConstraintMasses masses = ConstraintMasses::Physical);

    // Returns the assignment of a single rank: every constraint of the system.
    ConstraintAssignment assign_all(const Topology& topology) const;
    // Returns the constraints of `copies` whose atoms are home. It calls
    // is_home(global atom) for one atom of each water or group only.
    ConstraintAssignment assign(const MoleculeList& copies, const std::function<bool(std::int32_t)>& is_home) const;

    // This function and the next work on the assigned constraints, whose atoms must be home. apply()
    // changes state.v so that state.x + dt state.v satisfies the constraints. dt != 0 may have any
    // sign. state.x is the reference and should satisfy the constraints to within a few per cent.
    template <class N>
    ConstraintResult<N> apply(CpuQueue& queue, const ConstraintAssignment& assignment, ParticleState<N>& state, double dt,
                              Virial virial) const;

    // Removes from `vectors` (velocities, or forces with Equal masses) the part that changes a constrained distance
    // of state.x, up to rounding. For forces it returns, on request, the virial of the removed part: that of the
    // constraint forces on atoms at rest. Throws InputError E158 if the constraints of a group depend on each other.
    template <class N, class T>
    ConstraintResult<N> project(CpuQueue& queue, const ConstraintAssignment& assignment, const ParticleState<N>& state,
                                ClusterArray<T>& vectors, Virial virial = Virial::Skip) const;

private:
    struct TypeConstraints
    {
        std::string name; // name of the molecule type
        std::vector<SettleWater> waters;
        std::vector<LincsGroup> water_groups; // each water as a group of three constraints
        std::vector<LincsGroup> groups;       // one for each set of coupled constraints
    };

    // Calls body(molecule type, group, first atom) for this thread's share of the assignment. A water counts as a group.
    template <class Body>
    void for_every_group(const CpuQueue& queue, int thread, const ConstraintAssignment& assignment, Body&& body) const;

    std::vector<TypeConstraints> types_; // indexed by molecule type
    LincsSettings lincs_;
    double warn_cosine_ = 0; // cosine of lincs-warnangle
};

// Moves state.x onto the constraints, along the bonds of state.x, and leaves
// state.v unchanged. Used at the start of a run without `continuation`.
template <class N>
ConstraintResult<N> constrain_positions(CpuQueue& queue, const Constraints& constraints, const ConstraintAssignment& assignment,
                                        ParticleState<N>& state);

// The velocities with which a run starts.
enum class StartOf : std::uint8_t
{
    HalfStep, // v(-dt/2), of leap-frog
    FullStep  // v(0), of velocity Verlet
};

// Starts a run without `continuation`, as GROMACS does. It moves positions onto the constraints, and removes the components of
// velocities along them. Then it changes v(-dt/2) so that x(-dt) = x - dt v satisfies the constraints as well.
template <class N>
ConstraintResult<N> constrain_start(CpuQueue& queue, const Constraints& constraints, const ConstraintAssignment& assignment,
                                    ParticleState<N>& state, double dt, StartOf velocities = StartOf::HalfStep);

} // namespace parhelion
