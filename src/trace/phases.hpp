// SPDX-License-Identifier: Apache-2.0
// The named phases of the step, which device/phase_clock.hpp times. step.hpp, the report and the benchmarks share this list.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace parhelion {

enum class Phase : std::uint8_t
{
    Migrate,         // S  atoms move to their new owners; the halo is planned
    Reorder,         // S  sort atoms into cluster order
    PairList,        // S  build the pair list
    SendCoordinates, // X  exchange halo positions
    Nonbonded,       // L  compute pair forces
    Bonded,          // B  compute bonded, 1-4 and restraint forces
    Spread,          // M  spread charges on PME's grid
    Fft,             // M  transform along z and y, there and back
    Solve,           // M  transform along x, there and back, and apply the influence function
    Gather,          // M  gather forces from the grid
    MeshExchange,    // M  exchange the mesh's messages between ranks
    ReturnForces,    // F  return forces on halo atoms
    SumForces,       // R  clear and sum the threads' forces, guard against blow-ups
    Couple,          // T  apply thermostat and barostat
    Kick,            // U  update velocities
    Constrain,       // C  apply SETTLE and LINCS
    Drift,           // D  update positions
    Kinetic,         // K  compute kinetic energy and centre-of-mass motion
    Reduce,          // G  sum over all ranks
    Output,          // O  make observables and frames
};
inline constexpr int phases = 20;
inline constexpr std::array<std::string_view, phases> phase_names = {
    "migrate", "reorder",   "pair list", "send coordinates", "nonbonded",     "bonded",     "spread",
    "fft",     "solve",     "gather",    "mesh exchange",    "return forces", "sum forces", "couple",
    "kick",    "constrain", "drift",     "kinetic",          "reduce",        "output",
};

} // namespace parhelion
