// SPDX-License-Identifier: Apache-2.0
// Makes and reads the packets of interactive molecular dynamics (IMD), versions 2 and 3, between a simulation and a client. They
// follow the specification "IMDv3 Protocol" of the project imdclient (imdclient.readthedocs.io). A packet has a header of two
// big-endian 32-bit numbers. Some packets also have a body, in this machine's byte order. Packets have lengths in angstrom,
// energies in kJ/mol and times in ps.
#pragma once

#include "model/frame.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace parhelion {

enum class ImdType : std::int32_t
{
    Disconnect = 0,
    Energies = 1,
    Coordinates = 2,
    Go = 3,
    Handshake = 4,
    Kill = 5,
    Forces = 6, // forces that the client sends to the simulation
    Pause = 7,  // in version 2 a second Pause resumes the run
    Rate = 8,
    IoError = 9,
    SessionInfo = 10,
    Resume = 11,
    Time = 12,
    Box = 13,
    Velocities = 14,
    FrameForces = 15,
    Wait = 16
};

inline constexpr std::size_t imd_header_bytes = 8;

struct ImdHeader
{
    std::int32_t type = 0; // a value of ImdType; a received header may have any other value
    std::int32_t value = 0;
};
ImdHeader imd_header(std::span<const char, imd_header_bytes> bytes);

// Returns the first packets of a connection. Precondition: version is 2 or 3.
std::string imd_greeting(int version);

// The body of a packet of energies, kJ/mol. Terms that a run does not have are 0.
struct ImdEnergies
{
    float temperature = 0; // K
    float total = 0, potential = 0, lennard_jones = 0, coulomb = 0, bonds = 0, angles = 0, dihedrals = 0, impropers = 0;
};
// Adds energies up by kind, which their GROMACS names determine. Energies of other kinds are in the potential alone.
ImdEnergies imd_energies(std::span<const std::string> names, std::span<const double> values);

// Returns the packets of a frame, in the order that the version prescribes. dt: ps. Precondition: the frame has positions, and
// in version 3 also velocities and forces.
std::string imd_frame(int version, const Frame& frame, double dt, const ImdEnergies& energies);

} // namespace parhelion
