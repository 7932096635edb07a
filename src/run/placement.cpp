// SPDX-License-Identifier: Apache-2.0
#include "run/placement.hpp"

namespace parhelion {

std::string RunNumerics::text() const
{
    const std::string name = precision == Precision::Double ? "double" : "mixed";
    return name + (summation == Summation::Reproducible ? " reproducible" : "");
}

SimulationOptions simulation_options(const RunNumerics& numerics, const RunPlacement& placement)
{
    SimulationOptions result;
    result.precision = numerics.precision;
    result.summation = numerics.summation;
    result.device = placement.device;
    result.gpus = placement.gpus;
    result.ranks = placement.ranks;
    result.threads = placement.threads;
    result.grid = placement.grid;
    result.halo = placement.halo.value_or(result.halo);
    result.pme = placement.pme;
    result.mesh_ranks = placement.mesh_ranks;
    result.comm_timeout = placement.comm_timeout;
    return result;
}

} // namespace parhelion
