// SPDX-License-Identifier: Apache-2.0
// Lennard-Jones and reaction-field forces of the pairs in a pair list.
//
//   Lennard-Jones   V = c12 (r^-12 - s12(r)) - c6 (r^-6 - s6(r)) for r < rc, s constant (potential shift) or switching the
//                   force off between r1 and rc (force switch: Chapter "Modified non-bonded interactions" of the GROMACS
//                   manual; Phi there), or s_p = r^-p u(r), which switches the potential off between r1 and rc (potential
//                   switch: the same chapter, S = 1 - u there).
//   Reaction field  V = f q_i q_j (1/r + k r^2 - c) for r < rc, k = (eps_rf - eps_r) / ((2 eps_rf + eps_r) rc^3) and
//                   c = 1/rc + k rc^2
//                   (Tironi et al., J. Chem. Phys. 102, 5451 (1995)); f = units::coulomb / eps_r. Excluded pairs within rc feel f
//                   q_i q_j (k r^2 - c), and every atom has the self energy -f c q^2 / 2. A plain cut-off has k = 0, and c = 1/rc
//                   if shifted, else 0.
//   PME             V = f q_i q_j (erfc(beta r)/r - c) for r < rc, c = erfc(beta rc)/rc if shifted, else 0 (Essmann et al., J.
//                   Chem. Phys. 103, 8577 (1995), eq. 2.3, real-space part). Excluded pairs within rc lose what the mesh holds of
//                   them, f q_i q_j erf(beta r)/r, and every atom the self energy f beta q^2 / sqrt(pi). Lennard-Jones forces may
//                   have a shorter cut-off.
//
// The kernels (nonbonded_kernel-inl.hpp) are compiled for several instruction sets and chosen at run time.
#pragma once

#include "interactions/force_buffers.hpp"
#include "interactions/pair/screening.hpp"
#include "model/run_parameters.hpp"
#include "model/topology.hpp"
#include "pairs/pair_list.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

// How the c6 and c12 of a pair come from its atoms. The first two cost a few multiplications, the table two gathers a vector.
enum class LjRule : std::uint8_t
{
    Geometric,        // c = sqrt(c_ii c_jj) holds throughout the table
    LorentzBerthelot, // sigma = (sigma_i + sigma_j) / 2, epsilon = sqrt(epsilon_i epsilon_j) does
    Table,
};

// s_p(r) = constant + t^3 (a / 3 + b t / 4), t = max(0, r - r1); the force per c_p is p r^-(p+1) + t^2 (a + b t).
struct LjModifierTerm
{
    double constant = 0, a = 0, b = 0;
};

// Force switch: value and derivative of the force of r^-p vanish at rc and are continuous at r1 (GROMACS manual, "Modified
// non-bonded interactions").
LjModifierTerm force_switch(int p, double r1, double rc);

// Potential switch: coefficient i = 0 ... 2 of u = t^3 (u0 + u1 t + u2 t^2), t = max(0, r - r1), which rises from 0 at r1 to 1 at
// rc with two derivatives that vanish at both (GROMACS manual, as above).
double potential_switch(int i, double r1, double rc);

struct NonbondedParameters
{
    double cutoff = 0;                                 // nm, of Coulomb forces and so of the pair list
    double lj_cutoff = 0;                              // nm; shorter with PME only
    double coulomb_factor = 0;                         // f, kJ nm/(mol e^2)
    double reaction_field_k = 0, reaction_field_c = 0; // nm^-3, nm^-1; with PME k is 0 and c the shift
    Screening screening;                               // PME
    LjModifierTerm dispersion, repulsion;              // p = 6, 12
    double lj_switch = 0;                              // r1, nm; = lj_cutoff without a switch
    bool switches_potential = false;                   // and not the force
    int types = 0;
    std::vector<double> c6, c12; // [a * types + b]
    LjRule rule = LjRule::Table;
};

// Throws InputError if the Coulomb cut-off is shorter than that of Lennard-Jones, or longer without PME.
NonbondedParameters make_nonbonded(const Topology& topology, const RunParameters& run);

// Of a unit charge, kJ/(mol e^2): its own reaction field, or the cloud of charge that the mesh holds of it.
double self_energy(const NonbondedParameters& parameters);

// The parameters in the precision of N, and per slot for the order of the last pair list.
template <class N>
class NonbondedTables
{
public:
    using Real = typename N::Real;

    explicit NonbondedTables(NonbondedParameters parameters);

    const NonbondedParameters& parameters() const { return parameters_; }
    // Per type: sqrt(6 c6), sqrt(12 c12) (Geometric) or sigma / 2, sqrt(24 epsilon) (LorentzBerthelot), and 0, 0 for fillers.
    const std::vector<Real>& type_parameters() const { return type_parameters_; }
    // 6 c6, 12 c12 of [a * (types + 1) + b]; Table only.
    const std::vector<Real>& pair_parameters() const { return pair_parameters_; }

    // Per cluster: 8 charges times sqrt(f), 8 first and 8 second type parameters. Brought up to date when the list is new.
    const Real* slot_parameters(CpuQueue& queue, const PairList& list, const ParticleState<N>& state);
    const std::int32_t* slot_types() const { return slot_types_.data(); }

private:
    NonbondedParameters parameters_;
    std::vector<Real> type_parameters_, pair_parameters_;
    AlignedVector<Real> slot_parameters_;
    AlignedVector<std::int32_t> slot_types_;
    std::uint64_t list_serial_ = 0;
};

// Adds the forces to buffers.forces[thread] and, on request, the energies LjSr and CoulombSr and the virial to
// buffers.energies[thread]. Preconditions: buffers cleared for this queue and state, the list built for this order of atoms, 2 *
// cutoff <= every box edge. Pairs nearer than 3e-3 nm, but for excluded ones, are computed as at that distance: large, finite
// forces instead of NaN for atoms on top of each other.
template <class N>
void compute_nonbonded(CpuQueue& queue, NonbondedTables<N>& tables, const PairList& list, const ParticleState<N>& state,
                       ForceBuffers<N>& buffers, Compute compute);

} // namespace parhelion
