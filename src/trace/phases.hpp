// SPDX-License-Identifier: Apache-2.0
// The named lines of the step, which device/phase_clock.hpp times. One list for step.hpp, the report and the benchmarks.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace parhelion {

enum class Phase : std::uint8_t
{
    Migrate,         // S  atoms to their new owners, the halo's plan
    Reorder,         // S  sort atoms into cluster order
    PairList,        // S  build the pair list
    SendCoordinates, // X  halo positions
    Nonbonded,       // L  pair forces
    Bonded,          // B  bonded, 1-4 and restraint forces
    Spread,          // M  charges to PME's grid
    Fft,             // M  along z and y, there and back
    Solve,           // M  along x, there and back, and the influence function
    Gather,          // M  forces from the grid
    MeshExchange,    // M  the mesh's messages between ranks
    ReturnForces,    // F  halo forces
    SumForces,       // R  clear and sum the threads' forces, guard against blow-ups
    Couple,          // T  thermostat and barostat
    Kick,            // U  velocities
    Constrain,       // C  SETTLE and LINCS
    Drift,           // D  positions
    Kinetic,         // K  kinetic energy, centre-of-mass motion
    Reduce,          // G  sums over all ranks
    Output,          // O  observables and frames
};
inline constexpr int phases = 20;
inline constexpr std::array<std::string_view, phases> phase_names = {
    "migrate", "reorder",   "pair list", "send coordinates", "nonbonded",     "bonded",     "spread",
    "fft",     "solve",     "gather",    "mesh exchange",    "return forces", "sum forces", "couple",
    "kick",    "constrain", "drift",     "kinetic",          "reduce",        "output",
};

} // namespace parhelion
