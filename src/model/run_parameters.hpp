// SPDX-License-Identifier: Apache-2.0
// What the .mdp asks for, typed, with GROMACS' defaults. Filled by io/mdp.cpp from one table (io/mdp_table.cpp) that also says
// which keys are refused and which are harmless. Nothing here is optional in meaning: every field is honoured by the engine; the
// tolerance of the pair list has an upper bound, and its interval may be a lower one (pairs/buffer.hpp).
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
    StochasticDynamics
};
enum class LjModifier : std::uint8_t
{
    None,
    PotentialShift,
    ForceSwitch,
    PotentialSwitch
};
enum class CoulombKind : std::uint8_t
{
    CutOff,
    ReactionField,
    Pme
}; // a plain cut-off is a reaction field with epsilon_rf = epsilon_r
enum class DispersionCorrection : std::uint8_t
{
    None,
    Energy,
    EnergyPressure
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
enum class BoxCoupling : std::uint8_t // pcoupltype: which edges of the box pressure coupling changes by one factor
{
    Isotropic,     // all
    SemiIsotropic, // x and y
    Anisotropic,   // none
    SurfaceTension // x and y, which follow a surface tension
};
enum class EnsembleTemperature : std::uint8_t
{
    Auto, // the reference temperature of all groups, if they have one and all are coupled
    Constant,
    NotAvailable,
    Variable // that of simulated annealing, which all groups share
};
enum class ComMode : std::uint8_t // which motion of groups as a whole is removed
{
    None,
    Linear,
    Angular,               // and rotation
    LinearWithDisplacement // linear-acceleration-correction: and the way that it has made since the last removal
};
enum class RefcoordScaling : std::uint8_t
{
    None,
    All,
    Com
};

// How the reference temperature of a group changes with time.
enum class Annealing : std::uint8_t
{
    None,
    Single,  // as given, and constant afterwards
    Periodic // over and over again
};
struct AnnealingPoint
{
    double time = 0;        // ps
    double temperature = 0; // K
};

struct TemperatureGroup
{
    std::string name;     // index group; "System" = every atom
    double tau = 0;       // ps; the inverse friction for stochastic dynamics; <= 0: not coupled
    double reference = 0; // K; with annealing it is not used
    Annealing annealing = Annealing::None;
    std::vector<AnnealingPoint> annealing_points{}; // times do not decrease
};

// The highest temperature that a group is to have in a run, K.
inline double highest_reference(const TemperatureGroup& group)
{
    if (group.annealing == Annealing::None) { return group.reference; }
    double highest = 0;
    for (const AnnealingPoint& point : group.annealing_points) { highest = std::max(highest, point.temperature); }
    return highest;
}

// Atoms that do not move along some axes.
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

// Along one axis: E0 exp(-(t - t0)^2 / (2 sigma^2)) cos(omega (t - t0)); sigma 0: no pulse, sigma and omega 0: constant.
struct ElectricField
{
    double amplitude = 0; // E0, V/nm
    double omega = 0;     // 1/ps
    double centre = 0;    // t0, ps
    double width = 0;     // sigma, ps
};

struct RunParameters
{
    // run control
    Integrator integrator = Integrator::LeapFrog;
    double start_time = 0; // tinit
    double dt = 0.001;
    std::int64_t steps = 0;      // nsteps; -1: no limit
    std::int64_t first_step = 0; // init-step
    ComMode com_mode = ComMode::Linear;
    int com_interval = 100;              // nstcomm
    std::vector<std::string> com_groups; // comm-grps; empty = System
    std::int64_t random_seed = -1;       // ld-seed; -1: chosen at start and logged
    bool multiple_time_steps = false;    // mts, of two levels
    int mesh_factor = 2;                 // mts-level2-factor
    double mass_repartition_factor = 1;  // 1: masses are the topology's
    // energy minimisation
    double em_tolerance = 10; // emtol
    double em_step = 0.01;    // emstep, nm
    // output intervals in steps, 0 = never but the last step where GROMACS writes it
    int x_out = 0, v_out = 0, f_out = 0; // nstxout, nstvout, nstfout
    int log_out = 1000, energy_calc = 100, energy_out = 1000;
    int compressed_out = 0; // nstxout-compressed
    double compressed_precision = 1000;
    std::vector<std::string> compressed_groups; // empty = System
    // pair list and cut-offs
    int list_interval = 10; // nstlist
    double buffer_tolerance =
        0.005;              // verlet-buffer-tolerance, kJ/mol/ps per atom; < 0: list_cutoff and list_interval are taken as given
    double list_cutoff = 1; // rlist
    CoulombKind coulomb = CoulombKind::CutOff;
    double coulomb_cutoff = 1;
    double epsilon_r = 1, epsilon_rf = 0;      // 0 = infinite
    bool coulomb_potential_shift = true;       // coulomb-modifier; reaction field shifts by its own constant in any case
    double ewald_tolerance = 1e-5;             // ewald-rtol: erfc(beta rcoulomb)
    double mesh_spacing = 0.12;                // fourierspacing, nm
    int mesh_nx = 0, mesh_ny = 0, mesh_nz = 0; // fourier-nx, -ny, -nz; 0: from the spacing
    int pme_order = 4;
    LjModifier lj_modifier = LjModifier::PotentialShift;
    double lj_cutoff = 1, lj_switch = 0;
    DispersionCorrection dispersion_correction = DispersionCorrection::None;
    // coupling
    Thermostat thermostat = Thermostat::None;
    int temperature_interval = -1; // nsttcouple; -1: chosen (coupling_error.hpp)
    std::vector<TemperatureGroup> temperature_groups;
    EnsembleTemperature ensemble_temperature_setting = EnsembleTemperature::Auto;
    double given_ensemble_temperature = -1; // ensemble-temperature, K; < 0: not given
    Barostat barostat = Barostat::None;
    int pressure_interval = -1; // nstpcouple
    double tau_p = 1;
    BoxCoupling box_coupling = BoxCoupling::Isotropic;
    Vec3<double> compressibility;    // 1/bar, by axis; 0: this edge stays
    Vec3<double> reference_pressure; // bar, by axis; with a surface tension that along z three times
    double surface_tension = 0;      // bar nm, of all surfaces together
    RefcoordScaling refcoord_scaling = RefcoordScaling::None;
    // velocities
    bool generate_velocities = false;
    double generation_temperature = 300;
    std::int64_t generation_seed = -1; // gen-seed; likewise
    // constraints
    ConstraintMode constraints = ConstraintMode::None;
    bool continuation = false;
    int lincs_order = 4, lincs_iterations = 1;
    double lincs_warn_angle = 30; // degrees
    // restraints
    bool distance_restraints = false;                 // disre: the topology's act
    double distance_restraint_k = 1000;               // disre-fc, kJ/mol/nm^2
    bool equal_distance_forces = false;               // disre-weighting, of restraints of several pairs
    std::vector<FrozenGroup> frozen_groups;           // freezegrps, freezedim: those that are frozen along an axis
    std::vector<AcceleratedGroup> accelerated_groups; // acc-grps, accelerate: those whose acceleration is not 0
    std::array<ElectricField, 3> electric_field{};
    // topology preprocessing
    std::vector<std::string> defines;       // from define = -DNAME[=VALUE], as "NAME" or "NAME=VALUE"
    std::vector<std::string> include_paths; // from include = -Ipath
    // Off-diagonal elements yx, zx, zy of anisotropic coupling; 1/bar and bar.
    Vec3<double> shear_compressibility, shear_reference_pressure;
};

inline bool is_annealed(const RunParameters& p)
{
    return std::ranges::any_of(p.temperature_groups, [](const auto& group) { return group.annealing != Annealing::None; });
}

// The one temperature of the whole system, K: what is given, or what all temperature groups are coupled to. Empty if there is
// none.
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

// 1/(4 pi eps0 epsilon_r), kJ nm/(mol e^2).
inline double coulomb_factor(const RunParameters& p) { return p.epsilon_r > 0 ? units::coulomb / p.epsilon_r : 0; }

// k_rf, nm^-3 (GROMACS manual, "Coulomb interaction with reaction field"); 0 without one.
inline double reaction_field_k(const RunParameters& p)
{
    if (p.coulomb != CoulombKind::ReactionField) { return 0; }
    const double polarisation = p.epsilon_rf == 0 ? 0.5 : (p.epsilon_rf - p.epsilon_r) / (2 * p.epsilon_rf + p.epsilon_r);
    return polarisation / (p.coulomb_cutoff * p.coulomb_cutoff * p.coulomb_cutoff);
}

// Steps from one in which PME's mesh acts, so many times, to the next.
inline int mesh_interval(const RunParameters& p)
{
    return p.multiple_time_steps && p.coulomb == CoulombKind::Pme ? p.mesh_factor : 1;
}

// beta of PME's splitting, 1/nm: erfc(beta rcoulomb) = ewald-rtol, by bisection to the last bit.
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

} // namespace parhelion
