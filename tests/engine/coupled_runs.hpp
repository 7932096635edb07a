// SPDX-License-Identifier: Apache-2.0
// A short run for every way of coupling.
#pragma once

#include "run_helpers.hpp"

namespace parhelion::test {

struct Case
{
    std::string name;
    Integrator integrator = Integrator::LeapFrog;
    Thermostat thermostat = Thermostat::None;
    Barostat barostat = Barostat::None;
    BoxCoupling edges = BoxCoupling::Isotropic;
};

inline const std::vector<Case> coupled_cases = {
    {"nve"},
    {"v_rescale", Integrator::LeapFrog, Thermostat::VRescale},
    {"berendsen", Integrator::LeapFrog, Thermostat::Berendsen, Barostat::Berendsen},
    {"nose_hoover", Integrator::LeapFrog, Thermostat::NoseHoover},
    {"c_rescale", Integrator::LeapFrog, Thermostat::VRescale, Barostat::CRescale},
    {"parrinello_rahman", Integrator::LeapFrog, Thermostat::NoseHoover, Barostat::ParrinelloRahman},
    {"stochastic_dynamics", Integrator::StochasticDynamics},
    {"stochastic_dynamics_c_rescale", Integrator::StochasticDynamics, Thermostat::None, Barostat::CRescale},
    {"c_rescale_semiisotropic", Integrator::LeapFrog, Thermostat::VRescale, Barostat::CRescale, BoxCoupling::SemiIsotropic},
    {"berendsen_surface_tension", Integrator::LeapFrog, Thermostat::Berendsen, Barostat::Berendsen, BoxCoupling::SurfaceTension},
    {"parrinello_rahman_anisotropic", Integrator::LeapFrog, Thermostat::NoseHoover, Barostat::ParrinelloRahman,
     BoxCoupling::Anisotropic},
    {"velocity_verlet", Integrator::VelocityVerlet},
    {"velocity_verlet_nose_hoover", Integrator::VelocityVerlet, Thermostat::NoseHoover},
    {"velocity_verlet_c_rescale", Integrator::VelocityVerlet, Thermostat::VRescale, Barostat::CRescale},
    {"velocity_verlet_average", Integrator::VelocityVerletAverage, Thermostat::VRescale, Barostat::Berendsen},
};

// Couples every second step, rebuilds the pair list every fourth with a buffer that is too small on purpose (a list that the
// continued run builds at another step would lack other pairs), and observes every fifth.
inline Refdata coupled(const Case& c, const std::string& system = "etoh")
{
    Refdata data = load_refdata(system);
    RunParameters& p = data.parameters;
    p.integrator = c.integrator;
    p.thermostat = c.thermostat;
    p.barostat = c.barostat;
    p.temperature_groups = {{"System", 0.1, 310}};
    p.temperature_interval = p.pressure_interval = 2;
    p.tau_p = 0.5;
    p.compressibility = {4.5e-5, 4.5e-5, 4.5e-5};
    p.reference_pressure = {1, 1, 1};
    p.box_coupling = c.edges;
    if (c.edges == BoxCoupling::SemiIsotropic) { p.compressibility.z = 2e-5, p.reference_pressure.z = 300; }
    if (c.edges == BoxCoupling::SurfaceTension) { p.surface_tension = 500; }
    if (c.edges == BoxCoupling::Anisotropic) { p.compressibility.y = 0, p.reference_pressure = {1, 100, 300}; }
    if (is_velocity_verlet(c.integrator)) { p.continuation = false, p.nose_hoover_chain = 3; }
    p.random_seed = 77;
    p.com_interval = 10;
    p.buffer_tolerance = -1;
    p.list_interval = 4;
    p.list_cutoff = std::max(p.coulomb_cutoff, p.lj_cutoff) + 0.01;
    p.energy_calc = 5;
    p.energy_out = p.log_out = 0;
    return data;
}

} // namespace parhelion::test
