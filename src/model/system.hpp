// SPDX-License-Identifier: Apache-2.0
// A system as the user gave it: topology, box, positions and velocities in input order. io/ produces it and engine/ consumes it.
#pragma once

#include "base/box.hpp"
#include "base/vec3.hpp"
#include "model/topology.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace parhelion {

struct System
{
    Topology topology;
    Box<double> box;
    std::vector<Vec3<double>> x;                   // nm, as in the file (molecules may be broken or outside the box)
    std::vector<Vec3<double>> v;                   // nm/ps; empty if none are given
    std::vector<Vec3<double>> restraint_reference; // reference positions of position restraints, nm; empty: x is used
    Box<double> restraint_reference_box;
    std::map<std::string, std::vector<std::int64_t>> groups; // groups of the .ndx: sorted global atoms; without "System"
    std::string title;
};

} // namespace parhelion
