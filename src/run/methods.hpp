// SPDX-License-Identifier: Apache-2.0
// The published methods that a run uses. The log lists them, and `parhelion cite` gives their references (report/citations.hpp).
#pragma once

#include "model/run_parameters.hpp"
#include "model/topology.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace parhelion {

enum class Method : std::uint8_t
{
    LeapFrog,
    VelocityVerlet,
    StochasticDynamics,
    ConjugateGradients,
    LBfgs,
    MultipleTimeSteps,
    ClusterPairLists,
    ReactionField,
    Pme,
    LjPme,
    Cmap,
    RestrictedBending,
    Settle,
    Lincs,
    VirtualSites,
    HeavyHydrogens,
    VRescale,
    BerendsenThermostat,
    NoseHoover,
    NoseHooverChain,
    CRescale,
    CRescaleOfEdges,
    BerendsenBarostat,
    ParrinelloRahman,
    BlockAverages
};
// The names of the methods in the log, indexed by method.
inline constexpr std::array<std::string_view, 25> method_names = {"leap-frog",
                                                                  "velocity Verlet",
                                                                  "stochastic dynamics",
                                                                  "conjugate gradients",
                                                                  "L-BFGS",
                                                                  "multiple time steps",
                                                                  "cluster pair lists",
                                                                  "reaction field",
                                                                  "smooth PME",
                                                                  "LJ-PME",
                                                                  "CMAP",
                                                                  "restricted bending",
                                                                  "SETTLE",
                                                                  "LINCS",
                                                                  "virtual sites",
                                                                  "heavy hydrogens",
                                                                  "v-rescale",
                                                                  "Berendsen thermostat",
                                                                  "Nose-Hoover",
                                                                  "Nose-Hoover chain",
                                                                  "C-rescale",
                                                                  "C-rescale of single edges",
                                                                  "Berendsen barostat",
                                                                  "Parrinello-Rahman",
                                                                  "block averages"};

// Returns the methods in the order of enum Method. The topology must have the constraints that the parameters ask for.
std::vector<Method> methods_used(const Topology& topology, const RunParameters& parameters);
// Returns a line for the log, such as "methods   leap-frog, SETTLE".
std::string describe_methods(const Topology& topology, const RunParameters& parameters);

} // namespace parhelion
