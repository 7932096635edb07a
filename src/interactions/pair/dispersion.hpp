// SPDX-License-Identifier: Apache-2.0
// Long-range dispersion correction: adds the attraction -c6/r^6 and, if asked for, the repulsion c12/r^12 that the cut-off and
// the modifier take away. It assumes that atoms are spread evenly beyond the cut-off and, on average, within it.
//
// <c6> is the mean over all pairs of atoms that are not excluded. For c6 = 1, dV(r) and dF(r) are the plain potential and force
// minus the simulated ones. rho = N/V (GROMACS manual, "long-range dispersion corrections"; the repulsion adds the same of
// <c12>):
//   E   = N/2 <c6> (rho I - dV(0)),   I = int_0^inf 4 pi r^2 dV dr;  the last term removes each atom's pair with itself
//   Xi  = -N/12 <c6> rho J,           J = int_0^inf 4 pi r^3 dF dr;  on each diagonal element of the virial
//   P   = -2 Xi/V
// The simulated potential is continuous for potential-shift and force-switch, which makes J = 3 I. A plain cut-off lacks the
// force of the step. With LJ-PME <c6> is the mean of what the mesh lacks, c6 less c6 on the mesh, as in GROMACS. Cost: three
// multiplications a step. The mean costs types^2, plus the exclusions of one copy of each type.
#pragma once

#include "base/units.hpp"
#include "base/vec3.hpp"
#include "model/run_parameters.hpp"
#include "model/topology.hpp"

#include <vector>

namespace parhelion {

class DispersionTail
{
public:
    DispersionTail() = default; // makes an object without correction: all its values are zero

    PARHELION_HD double energy(double volume) const
    {
        return energy_per_density_ / volume + energy_constant_;
    }                                                                                        // kJ/mol; volume in nm^3
    PARHELION_HD double virial(double volume) const { return virial_per_density_ / volume; } // kJ/mol, for each diagonal element
    PARHELION_HD double pressure(double volume) const                                        // bar
    {
        return -2 * virial(volume) / volume * units::bar_per_kj_mol_nm3;
    }

private:
    friend DispersionTail make_dispersion_correction(const Topology&, const RunParameters&);
    double energy_per_density_ = 0, energy_constant_ = 0, virial_per_density_ = 0;
};

// Honours lj_modifier, lj_cutoff, lj_switch and dispersion_correction. The virial is zero if the latter is Energy or
// AllEnergy.
DispersionTail make_dispersion_correction(const Topology& topology, const RunParameters& parameters);

// Returns the mean of a matrix of types, indexed as Topology::c6, over all pairs of atoms that are not excluded; 0 if there are
// none.
double mean_over_pairs(const Topology& topology, const std::vector<double>& of_types);

} // namespace parhelion
