// SPDX-License-Identifier: Apache-2.0
// Holds the values of the .mdp, typed, with GROMACS' defaults. io/input/mdp.cpp fills them in from one table
// (io/input/mdp_table.cpp), which also lists the keys that are refused and the harmless ones. The engine honours every field. Two
// fields are limits: the tolerance of the pair list is an upper bound, and its interval may be a lower bound (pairs/buffer.hpp).
#pragma once

#include "base/units.hpp"
#include "base/vec3.hpp"
#include "model/topology.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace parhelion {

enum class Integrator : std::uint8_t
{
    LeapFrog,
    SteepestDescent,
    ConjugateGradients,
    LBfgs,
    StochasticDynamics,
    VelocityVerlet,       // md-vv
    VelocityVerletAverage // md-vv-avek: kinetic energies are means over half steps, as with leap-frog
};
enum class LjModifier : std::uint8_t
{
    None,
    PotentialShift,
    ForceSwitch,
    PotentialSwitch
};
// The rule for the c6 of a pair on the mesh of dispersion (LJ-PME): lj-pme-comb-rule.
enum class LjMeshRule : std::uint8_t
{
    Geometric,        // sqrt(c6_ii c6_jj)
    LorentzBerthelot, // from the mean of sigma and the geometric mean of epsilon
};
enum class CoulombKind : std::uint8_t
{
    CutOff,
    ReactionField,
    Pme
}; // A plain cut-off is stored as a reaction field with epsilon_rf = epsilon_r.
enum class DispersionCorrection : std::uint8_t
{
    None,
    Energy,
    EnergyPressure,
    AllEnergy, // corrects for the repulsion, too
    AllEnergyPressure
};
enum class Thermostat : std::uint8_t
{
    None,
    Berendsen,
    NoseHoover,
    VRescale
};
enum class Barostat : std::uint8_t
{
    None,
    Berendsen,
    CRescale,
    ParrinelloRahman
};
enum class BoxCoupling : std::uint8_t // pcoupltype: which edges of the box are scaled by one common factor
{
    Isotropic,     // all edges have one factor
    SemiIsotropic, // x and y have a common factor, z has its own
    Anisotropic,   // every edge has its own factor
    SurfaceTension // x and y have a common factor, set by a surface tension
};
enum class EnsembleTemperature : std::uint8_t
{
    Auto, // the common reference temperature of all groups, if there is one and all groups are coupled
    Constant,
    NotAvailable,
    Variable // the temperature of simulated annealing, common to all groups
};
enum class ComMode : std::uint8_t // which motion of whole groups is removed
{
    None,
    Linear,
    Angular,               // linear motion and rotation
    LinearWithDisplacement // linear-acceleration-correction: linear motion, and the displacement since the last removal
};
enum class RefcoordScaling : std::uint8_t
{
    None,
    All,
    Com
};

// The time dependence of the reference temperature of a group.
enum class Annealing : std::uint8_t
{
    None,
    Single,  // follows the given points once, then stays constant
    Periodic // repeats the given points
};
struct AnnealingPoint
{
    double time = 0;        // ps
    double temperature = 0; // K
};

struct TemperatureGroup
{
    std::string name;     // name of an index group; "System" means every atom
    double tau = 0;       // ps; with stochastic dynamics the inverse friction; <= 0: not coupled
    double reference = 0; // K; unused with annealing
    Annealing annealing = Annealing::None;
    std::vector<AnnealingPoint> annealing_points{}; // sorted by time
};

// Returns the highest reference temperature of a group during a run, K.
inline double highest_reference(const TemperatureGroup& group)
{
    if (group.annealing == Annealing::None) { return group.reference; }
    double highest = 0;
    for (const AnnealingPoint& point : group.annealing_points) { highest = std::max(highest, point.temperature); }
    return highest;
}

// A group of atoms with a constant acceleration.
struct AcceleratedGroup
{
    std::string name;
    Vec3<double> acceleration; // nm/ps^2
};
struct FrozenGroup
{
    std::string name;
    std::uint8_t axes = 0; // bits 0, 1, 2 for x, y, z
};

// The field along an axis: E0 exp(-(t - t0)^2 / (2 sigma^2)) cos(omega (t - t0)). Sigma 0: no pulse. Both 0: a constant field.
struct ElectricField
{
    double amplitude = 0; // E0, V/nm
    double omega = 0;     // 1/ps
    double centre = 0;    // t0, ps
    double width = 0;     // sigma, ps
};

inline constexpr int most_chain_links = 10; // the most variables of a Nose-Hoover chain

struct RunParameters
{
    // --- run control
    Integrator integrator = Integrator::LeapFrog;
    double start_time = 0; // tinit
    double dt = 0.001;
    std::int64_t steps = 0;      // nsteps; -1: no limit
    std::int64_t first_step = 0; // init-step
    ComMode com_mode = ComMode::Linear;
    int com_interval = 100;              // nstcomm
    std::vector<std::string> com_groups; // comm-grps; empty = System
    std::int64_t random_seed = -1;       // ld-seed; -1: chosen at the start and logged
    bool multiple_time_steps = false;    // mts, with two levels
    int mesh_factor = 2;                 // mts-level2-factor
    double mass_repartition_factor = 1;  // factor by which masses are repartitioned; 1: the masses of the topology
    // --- energy minimisation
    double em_tolerance = 10;   // emtol
    double em_step = 0.01;      // emstep, nm
    int cg_restart = 1000;      // nstcgsteep: lines of conjugate gradients between two along the forces
    int lbfgs_corrections = 10; // nbfgscorr: moves that L-BFGS remembers
    // --- output intervals in steps; 0 means never, except for the last step if GROMACS writes it then
    int x_out = 0, v_out = 0, f_out = 0; // nstxout, nstvout, nstfout
    int log_out = 1000, energy_calc = 100, energy_out = 1000;
    int compressed_out = 0; // nstxout-compressed
    double compressed_precision = 1000;
    std::vector<std::string> compressed_groups; // empty = System
    // --- pair list and cut-offs
    int list_interval = 10; // nstlist
    double buffer_tolerance =
        0.005;              // verlet-buffer-tolerance, kJ/mol/ps per atom; < 0: list_cutoff and list_interval are used as given
    double list_cutoff = 1; // rlist
    CoulombKind coulomb = CoulombKind::CutOff;
    double coulomb_cutoff = 1;
    double epsilon_r = 1, epsilon_rf = 0;      // 0 = infinite
    bool coulomb_potential_shift = true;       // coulomb-modifier; a reaction field is always shifted, by its own constant
    double ewald_tolerance = 1e-5;             // ewald-rtol: erfc(beta rcoulomb)
    double mesh_spacing = 0.12;                // fourierspacing, nm
    int mesh_nx = 0, mesh_ny = 0, mesh_nz = 0; // fourier-nx, -ny, -nz; 0: derived from the spacing
    int pme_order = 4;
    LjModifier lj_modifier = LjModifier::PotentialShift;
    double lj_cutoff = 1, lj_switch = 0;
    bool has_lj_mesh = false;         // vdwtype = PME: the mesh has the dispersion beyond the cut-off, too
    double lj_ewald_tolerance = 1e-3; // ewald-rtol-lj
    LjMeshRule lj_mesh_rule = LjMeshRule::Geometric;
    DispersionCorrection dispersion_correction = DispersionCorrection::None;
    // --- coupling
    Thermostat thermostat = Thermostat::None;
    int temperature_interval = -1; // nsttcouple; -1: chosen by the program (coupling_error.hpp)
    std::vector<TemperatureGroup> temperature_groups;
    int nose_hoover_chain = 1; // nh-chain-length
    EnsembleTemperature ensemble_temperature_setting = EnsembleTemperature::Auto;
    double given_ensemble_temperature = -1; // ensemble-temperature, K; < 0: not given
    Barostat barostat = Barostat::None;
    int pressure_interval = -1; // nstpcouple
    double tau_p = 1;
    BoxCoupling box_coupling = BoxCoupling::Isotropic;
    Vec3<double> compressibility;    // 1/bar, along each axis; 0: the edge is constant
    Vec3<double> reference_pressure; // bar, along each axis; with a surface tension all three are the pressure along z
    double surface_tension = 0;      // bar nm, summed over all surfaces
    RefcoordScaling refcoord_scaling = RefcoordScaling::None;
    // --- velocities
    bool generate_velocities = false;
    double generation_temperature = 300;
    std::int64_t generation_seed = -1; // gen-seed; -1: chosen at the start and logged
    // --- constraints
    ConstraintMode constraints = ConstraintMode::None;
    bool continuation = false;
    int lincs_order = 4, lincs_iterations = 1;
    double lincs_warn_angle = 30; // degrees
    // --- restraints
    bool distance_restraints = false;                 // disre: the distance restraints of the topology act
    double distance_restraint_k = 1000;               // disre-fc, kJ/mol/nm^2
    bool equal_distance_forces = false;               // disre-weighting, for restraints of several pairs
    std::vector<FrozenGroup> frozen_groups;           // freezegrps, freezedim; without groups that are not frozen along any axis
    std::vector<AcceleratedGroup> accelerated_groups; // acc-grps, accelerate; without groups whose acceleration is 0
    std::array<ElectricField, 3> electric_field{};
    // --- topology preprocessing
    std::vector<std::string> defines;       // values of define = -DNAME[=VALUE], as "NAME" or "NAME=VALUE"
    std::vector<std::string> include_paths; // values of include = -Ipath
    // The off-diagonal elements yx, zx, zy of anisotropic pressure coupling, in 1/bar and bar.
    Vec3<double> shear_compressibility, shear_reference_pressure;
};

// Returns whether input and output velocities belong to the time of the positions, not to half a step before.
inline bool is_velocity_verlet(Integrator integrator)
{
    return integrator == Integrator::VelocityVerlet || integrator == Integrator::VelocityVerletAverage;
}

inline bool is_annealed(const RunParameters& p)
{
    return std::ranges::any_of(p.temperature_groups, [](const auto& group) { return group.annealing != Annealing::None; });
}

// Returns the one temperature of the whole system, K: the given temperature, or the reference
// temperature that all groups are coupled to. Returns nothing if there is no such temperature.
inline std::optional<double> ensemble_temperature(const RunParameters& p)
{
    if (p.ensemble_temperature_setting == EnsembleTemperature::NotAvailable) { return {}; }
    if (p.ensemble_temperature_setting == EnsembleTemperature::Variable) { return {}; }
    if (p.given_ensemble_temperature >= 0) { return p.given_ensemble_temperature; }
    if (p.ensemble_temperature_setting == EnsembleTemperature::Constant || p.temperature_groups.empty()) { return {}; }
    const double first = p.temperature_groups[0].reference;
    for (const TemperatureGroup& group : p.temperature_groups)
    {
        if (group.tau <= 0 || group.reference != first || group.annealing != Annealing::None) { return {}; }
    }
    return first;
}

// Returns 1/(4 pi eps0 epsilon_r), kJ nm/(mol e^2).
inline double coulomb_factor(const RunParameters& p) { return p.epsilon_r > 0 ? units::coulomb / p.epsilon_r : 0; }

// Returns k_rf, nm^-3 (GROMACS manual, "Coulomb interaction with reaction field"), or 0 without a reaction field.
inline double reaction_field_k(const RunParameters& p)
{
    if (p.coulomb != CoulombKind::ReactionField) { return 0; }
    const double polarisation = p.epsilon_rf == 0 ? 0.5 : (p.epsilon_rf - p.epsilon_r) / (2 * p.epsilon_rf + p.epsilon_r);
    return polarisation / (p.coulomb_cutoff * p.coulomb_cutoff * p.coulomb_cutoff);
}

// Returns n, the number of steps from one step with PME's mesh forces to the next. These forces then act n times as large.
inline int mesh_interval(const RunParameters& p)
{
    return p.multiple_time_steps && p.coulomb == CoulombKind::Pme ? p.mesh_factor : 1;
}

// Returns beta of PME's splitting, 1/nm. It solves erfc(beta rcoulomb) = ewald-rtol by bisection to the last bit.
inline double ewald_beta(const RunParameters& p)
{
    double low = 0, high = 1;
    while (std::erfc(high * p.coulomb_cutoff) > p.ewald_tolerance) { high *= 2; }
    for (int halving = 0; halving < 64; ++halving)
    {
        const double middle = 0.5 * (low + high);
        (std::erfc(middle * p.coulomb_cutoff) > p.ewald_tolerance ? low : high) = middle;
    }
    return high;
}

// Returns the part of the dispersion -c6/r^6 that LJ-PME leaves to the direct space at x = (beta r)^2:
// exp(-x) (1 + x + x^2/2) (Essmann et al., J. Chem. Phys. 103, 8577 (1995), eq. 5.2).
inline double direct_dispersion(double x) { return std::exp(-x) * (1 + x + 0.5 * x * x); }

// Returns beta of LJ-PME's splitting, 1/nm. It solves direct_dispersion((beta rvdw)^2) = ewald-rtol-lj by bisection to the last
// bit.
inline double lj_ewald_beta(const RunParameters& p)
{
    double low = 0, high = 1;
    const auto remains = [&](double beta) { return direct_dispersion(beta * p.lj_cutoff * beta * p.lj_cutoff); };
    while (remains(high) > p.lj_ewald_tolerance) { high *= 2; }
    for (int halving = 0; halving < 64; ++halving)
    {
        const double middle = 0.5 * (low + high);
        (remains(middle) > p.lj_ewald_tolerance ? low : high) = middle;
    }
    return high;
}

} // namespace parhelion
