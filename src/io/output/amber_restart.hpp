// SPDX-License-Identifier: Apache-2.0
// Writes AMBER's restart files (.rst7): one configuration, in double precision, as NetCDF with offsets of 64 bits (AMBER NetCDF
// Trajectory/Restart Convention, version 1.0; NetCDF Classic Format Specification, Unidata). The older text format has room for
// only seven decimals and for positions below 10 000 Angstrom. AMBER's programs read both.
#pragma once

#include "base/box.hpp"
#include "base/vec3.hpp"

#include <string>
#include <vector>

namespace parhelion {

struct AmberRestart
{
    std::string title, program_version;
    double time = 0; // ps
    Box<double> box;
    std::vector<Vec3<double>> x, v; // nm, nm/ps; v may be empty
};

// Numbers are converted to AMBER's units and rounded to doubles. Precondition: v is empty or has as many elements as x. Throws
// SystemError if it cannot be written.
void write_amber_restart(const std::string& path, const AmberRestart& restart);

} // namespace parhelion
