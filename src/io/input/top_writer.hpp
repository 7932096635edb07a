// SPDX-License-Identifier: Apache-2.0
// Writes a topology as one self-contained .top: each line has its parameters, all exclusions are listed,
// and every pair of atom types has Lennard-Jones parameters. Reading the file gives the same topology,
// with the same bits of all numbers except those of virtual sites at an angle, whose last bit may differ.
#pragma once

#include "model/topology.hpp"

#include <filesystem>

namespace parhelion {

// Writes the file. Names that a .top cannot represent are changed. Throws SystemError if the file cannot be written.
void write_topology(const std::filesystem::path& path, const Topology& topology);

} // namespace parhelion
