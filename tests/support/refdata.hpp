// SPDX-License-Identifier: Apache-2.0
// The reference systems under tests/data/refdata, read into our types. Conventions of the numbers: the README there.
#pragma once

#include "model/run_parameters.hpp"
#include "model/system.hpp"

#include <map>
#include <string>
#include <vector>

namespace parhelion::test {

// Every folder under tests/data/refdata: the systems with a reaction field. Those of `mesh_refdata` have PME; all functions here
// take names of either kind.
inline const std::vector<std::string> refdata_systems = {"spce", "etoh", "villin"};
inline const std::vector<std::string> mesh_refdata = {"etoh/pme", "villin/pme"};

struct Refdata
{
    std::string name;
    System system;
    RunParameters parameters; // those of sp.mdp
};

// constraints: HBonds as in the total forces, energies and trajectories; None for the classes, whose bonds to hydrogen exert
// forces.
Refdata load_refdata(const std::string& name, ConstraintMode constraints = ConstraintMode::HBonds);

// nhpr.mdp: the parameters of sp.mdp with Nose-Hoover and Parrinello-Rahman coupling in every step.
void couple_as_nhpr(RunParameters& parameters);
// And of axes_*: pressures by axis. edges: "semi", "each", "tension" or "fixed" (a tension, and a height that stays).
void couple_edges(RunParameters& parameters, const std::string& edges);

// Forces in input order, kJ/mol/nm: the total of sp.mdp, of PME also the "mesh" alone and "tight", the limit of a fine grid; or
// of one class ("bonds", "lj", "coul+coul14", ...).
std::vector<Vec3<double>> refdata_forces(const std::string& name, const std::string& kind = "");
std::vector<Vec3<double>> refdata_class_forces(const std::string& name, const std::string& class_name);

// Energies by GROMACS term name ("LJ (SR)", "Vir-XX", ...); throws on a name that is not in the table.
class EnergyTable
{
public:
    double operator[](const std::string& term) const;
    bool contains(const std::string& term) const { return values_.count(term) > 0; }
    Mat3<double> tensor(const std::string& prefix) const; // "Vir" or "Pres"
    void set(const std::string& term, double value) { values_[term] = value; }

private:
    std::map<std::string, double> values_;
};
EnergyTable refdata_energies(const std::string& name, const std::string& kind = "");
EnergyTable refdata_class_energies(const std::string& name, const std::string& class_name);

// Energies of every step of a trajectory, "nve", "nhpr" or "axes_...".
std::vector<EnergyTable> refdata_energy_series(const std::string& name, const std::string& run);

struct ReferenceState
{
    std::int64_t step = 0;
    double time = 0; // ps
    Box<double> box;
    std::vector<Vec3<double>> x, v; // v at time - dt/2
};
std::vector<ReferenceState> refdata_states(const std::string& name, const std::string& run);

} // namespace parhelion::test
