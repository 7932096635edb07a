// SPDX-License-Identifier: Apache-2.0
// Small systems that tests of CPU and GPU minimise: with constraints of each kind, virtual sites, frozen atoms, a tilted box.
#pragma once

#include "group_runs.hpp"
#include "run_helpers.hpp"
#include "site_runs.hpp"
#include "tilted_boxes.hpp"

#include <functional>
#include <string>
#include <vector>

namespace parhelion::test {

// Returns the data as a minimisation of which every point is reported.
inline Refdata as_minimisation(Refdata data, Integrator minimiser = Integrator::SteepestDescent)
{
    RunParameters& p = data.parameters;
    p.integrator = minimiser, p.cg_restart = 1000, p.lbfgs_corrections = 10;
    p.thermostat = Thermostat::None, p.barostat = Barostat::None;
    p.em_step = 0.005, p.em_tolerance = 1e-3;
    p.energy_calc = p.energy_out = 1;
    p.lincs_order = 8, p.lincs_iterations = 4;
    return data;
}

// Flexible ethanol among water that is frozen, so that nothing is held by constraints.
inline Refdata flexible_ethanol(Integrator minimiser)
{
    return as_minimisation(with_frozen(of_water, along_all, ConstraintMode::None), minimiser);
}

struct MinimisedSystemCase
{
    std::string name;
    std::function<Refdata()> make;
};

inline std::vector<MinimisedSystemCase> minimised_systems()
{
    return {{"constrained hydrogens and rigid water", [] { return as_minimisation(load_refdata("etoh")); }},
            {"constrained bonds", [] { return as_minimisation(load_refdata("villin", ConstraintMode::AllBonds)); }},
            {"virtual sites and PME", [] { return as_minimisation(load_sites("pme")); }},
            {"carbons that are frozen", [] { return as_minimisation(with_frozen(is_carbon, along_all)); }},
            {"carbons that move along y alone",
             [] { return as_minimisation(with_frozen(is_carbon, along_x_and_z, ConstraintMode::None)); }},
            {"a tilted box", [] { return as_minimisation(in_tilted_box(load_refdata("etoh"))); }}};
}

} // namespace parhelion::test
