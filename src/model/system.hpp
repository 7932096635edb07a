// SPDX-License-Identifier: Apache-2.0
// A system as the user gave it: topology, box, positions and velocities in input order. What io/ produces and engine/ consumes.
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
    std::vector<Vec3<double>> v;                   // nm/ps; empty: none given
    std::vector<Vec3<double>> restraint_reference; // reference for position restraints; empty: x
    Box<double> restraint_reference_box;
    std::map<std::string, std::vector<std::int64_t>> groups; // from the .ndx, sorted global atoms; "System" is implied
    std::string title;
};

} // namespace parhelion
