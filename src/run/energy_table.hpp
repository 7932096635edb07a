// SPDX-License-Identifier: Apache-2.0
// Which terms an energy file of this run has, in GROMACS' names and order, and their values at a step.
#pragma once

#include "base/box.hpp"
#include "engine/observer.hpp"
#include "model/run_parameters.hpp"
#include "model/topology.hpp"

#include <string>
#include <vector>

namespace parhelion {

class EnergyTable
{
public:
    // box: of the start; whether it is rectangular does not change.
    EnergyTable(const Topology& topology, const RunParameters& parameters, const Box<double>& box);

    const std::vector<std::string>& names() const { return names_; }
    // One value per name.
    std::vector<double> values(const Observables& observables) const;
    // How many of the first names are terms of the potential energy.
    std::size_t potential_terms() const { return terms_.size(); }

private:
    std::vector<EnergyTerm> terms_;
    std::vector<std::string> names_;
    bool dispersion_ = false, pressure_coupled_ = false, has_lincs_ = false, has_box_velocity_ = false;
    bool is_tilted_ = false, is_sheared_ = false, has_surface_tension_ = false;
    double mass_ = 0;               // u
    double reference_pressure_ = 0; // bar, the mean over the axes
};

} // namespace parhelion
