// SPDX-License-Identifier: Apache-2.0
// Excluded pairs and PME's cut-off. The mesh acts between all atoms. Its effect on excluded pairs is subtracted
// with the pairs of the list, which ends at rcoulomb. So the atoms of an excluded pair must be nearer than that.
#pragma once

#include "base/box.hpp"
#include "base/vec3.hpp"
#include "model/topology.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

struct ExcludedPair
{
    double distance = 0;         // nm, between nearest images
    std::int64_t a = -1, b = -1; // global atoms of the pair; -1: nothing is excluded
};

// Returns the excluded pair with the largest distance among molecules of these types (empty:
// of all types). x and box in nm, x in input order. Cost: a pass over all excluded pairs.
ExcludedPair longest_excluded_pair(const Topology& topology, const std::vector<Vec3<double>>& x, const Box<double>& box,
                                   const std::vector<bool>& of_types = {});

// Returns, by molecule type, whether an excluded pair can move farther apart than the cut-off (nm). It cannot if
// bonds and constraints connect its atoms by a path that is shorter than the cut-off even when stretched by a fifth.
std::vector<bool> types_with_loose_exclusions(const Topology& topology, double cutoff);

} // namespace parhelion
