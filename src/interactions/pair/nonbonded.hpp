// SPDX-License-Identifier: Apache-2.0
// Lennard-Jones and electrostatic forces of the pairs in a pair list, on CPUs. The laws of a pair are:
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
//   LJ-PME          V += c6' ((1 - g(beta' r)) / r^6 - c') for r < rc: the mesh has the dispersion of all distances, with c6', so
//                   each pair subtracts its part within rc. g(b) = exp(-b^2) (1 + b^2 + b^4/2), c' = (1 - g(beta' rc)) / rc^6 if
//                   shifted, else 0 (Essmann et al., eq. 5.2). c6' follows lj-pme-comb-rule. Excluded pairs within rc lose the
//                   mesh's part, too, and every atom has the self energy beta'^6 c6' / 12.
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

// The rule for a pair's c6 and c12. The first two rules cost a few multiplications, Table costs two gathers per vector.
enum class LjRule : std::uint8_t
{
    Geometric,        // c = sqrt(c_ii c_jj) holds for all pairs of types
    LorentzBerthelot, // sigma = (sigma_i + sigma_j) / 2, epsilon = sqrt(epsilon_i epsilon_j) hold for all pairs of types
    Table,
};

// A force switch: s_p(r) = constant + t^3 (a / 3 + b t / 4), t = max(0, r - r1). Force per c_p: p r^-(p+1) + t^2 (a + b t).
struct LjModifierTerm
{
    double constant = 0, a = 0, b = 0;
};

// Returns the force switch of r^-p. The force and its derivative are 0 at rc
// and continuous at r1 (GROMACS manual, "Modified non-bonded interactions").
LjModifierTerm force_switch(int p, double r1, double rc);

// Returns coefficient i = 0 ... 2 of the potential switch u = t^3 (u0 + u1 t + u2 t^2), t = max(0, r - r1).
// u rises from 0 at r1 to 1 at rc. Its first two derivatives are 0 at r1 and rc (GROMACS manual, as above).
double potential_switch(int i, double r1, double rc);

struct NonbondedParameters
{
    double cutoff = 0;                                 // cut-off of Coulomb forces, and so of the pair list, nm
    double lj_cutoff = 0;                              // nm; shorter than `cutoff` only with PME, not with LJ-PME
    double coulomb_factor = 0;                         // f, kJ nm/(mol e^2)
    double reaction_field_k = 0, reaction_field_c = 0; // nm^-3, nm^-1; with PME k is 0 and c is the potential shift
    Screening screening;                               // for PME only
    DispersionScreening mesh_dispersion;               // for LJ-PME only
    double mesh_dispersion_shift = 0;                  // c' above, nm^-6
    LjMeshRule mesh_rule = LjMeshRule::Geometric;
    std::vector<double> mesh_c6;          // [a * types + b], for LJ-PME only
    LjModifierTerm dispersion, repulsion; // force switches of r^-6 and r^-12
    double lj_switch = 0;                 // r1, nm; lj_cutoff if there is no switch
    bool switches_potential = false;      // true if the switch acts on the potential, not the force
    int types = 0;
    std::vector<double> c6, c12; // [a * types + b]
    LjRule rule = LjRule::Table;
};

// Returns the parameters. Throws InputError if the Coulomb cut-off is below the Lennard-Jones cut-off, or above it without PME,
// and what mesh_c6() throws (interactions/mesh/mesh_dispersion.hpp).
NonbondedParameters make_nonbonded(const Topology& topology, const RunParameters& run);

// Returns the self energy of a unit charge, kJ/(mol e^2), in its reaction field or in its screening charge on the mesh.
double self_energy(const NonbondedParameters& parameters);

// Returns beta^6 / 12, the self energy on the mesh of dispersion of an atom with c6 = 1 kJ nm^6/mol, kJ/mol: the mesh holds
// -beta^6 c6 / 12 of each atom and itself.
double dispersion_self_energy(const NonbondedParameters& parameters);

// The parameters in the precision of N, by type and by slot. Slots have the order of atoms in the last pair list.
template <class N>
class NonbondedTables
{
public:
    using Real = typename N::Real;

    explicit NonbondedTables(NonbondedParameters parameters);

    const NonbondedParameters& parameters() const { return parameters_; }
    // Two per type: sqrt(6 c6), sqrt(12 c12) (Geometric); sigma / 2, sqrt(24 epsilon) (LorentzBerthelot); 0, 0 for fillers.
    const std::vector<Real>& type_parameters() const { return type_parameters_; }
    // 6 c6 and 12 c12 of types a and b at [a * (types + 1) + b]; for LjRule::Table only.
    const std::vector<Real>& pair_parameters() const { return pair_parameters_; }

    // The same for LJ-PME's mesh: sqrt(6 c6), 0 (Geometric); sigma / 2, sqrt(24 epsilon) (LorentzBerthelot).
    const std::vector<Real>& mesh_type_parameters() const { return mesh_type_parameters_; }

    // Returns, for each cluster, 8 charges times sqrt(f), 8 first and 8 second parameters. It updates them if the list is new.
    const Real* slot_parameters(CpuQueue& queue, const PairList& list, const ParticleState<N>& state);
    const std::int32_t* slot_types() const { return slot_types_.data(); }
    // For each cluster, 8 first and 8 second parameters of mesh_type_parameters(); nothing without LJ-PME. Valid after
    // slot_parameters().
    const Real* mesh_slot_parameters() const { return mesh_slot_parameters_.data(); }

private:
    NonbondedParameters parameters_;
    std::vector<Real> type_parameters_, pair_parameters_, mesh_type_parameters_;
    AlignedVector<Real> slot_parameters_, mesh_slot_parameters_;
    AlignedVector<std::int32_t> slot_types_;
    std::uint64_t list_serial_ = 0;
};

// Adds forces to buffers.forces[thread] and, on request, the energies LjSr and CoulombSr and the virial to
// buffers.energies[thread]. Preconditions: the buffers are cleared for this queue and state; the list is
// built for this order of atoms; 2 * cutoff <= every box edge. For pairs nearer than 3e-3 nm the forces at
// that distance are used, so coincident atoms have large, finite forces. Excluded pairs are the exception.
template <class N>
void compute_nonbonded(CpuQueue& queue, NonbondedTables<N>& tables, const PairList& list, const ParticleState<N>& state,
                       ForceBuffers<N>& buffers, Compute compute);

} // namespace parhelion
