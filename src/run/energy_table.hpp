// SPDX-License-Identifier: Apache-2.0
// The terms of a run's energy file, in GROMACS' names and order, and their values at a step.
#pragma once

#include "base/box.hpp"
#include "engine/observer.hpp"
#include "model/run_parameters.hpp"
#include "model/topology.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace parhelion {

enum class ExternalForcesAct : std::uint8_t
{
    No,
    Yes
};

class EnergyTable
{
public:
    // Lists the terms. `box`: at the start of the run. Whether it is rectangular does not change during a run.
    EnergyTable(const Topology& topology, const RunParameters& parameters, const Box<double>& box,
                ExternalForcesAct external = ExternalForcesAct::No);

    const std::vector<std::string>& names() const { return names_; }
    // Returns one value for each name of a term.
    std::vector<double> values(const Observables& observables) const;
    // Returns how many names, from the first on, are terms of the potential energy.
    std::size_t potential_terms() const { return terms_.size() + (has_external_ ? 1 : 0); }

private:
    std::vector<EnergyTerm> terms_;
    std::vector<std::string> names_;
    bool has_external_ = false, dispersion_ = false, pressure_coupled_ = false, has_lincs_ = false, has_box_velocity_ = false;
    bool is_tilted_ = false, is_sheared_ = false, has_surface_tension_ = false;
    double mass_ = 0;               // u
    double reference_pressure_ = 0; // bar, mean over the axes
};

} // namespace parhelion
