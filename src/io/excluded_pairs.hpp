// SPDX-License-Identifier: Apache-2.0
// Excluded pairs and PME's cut-off. The mesh acts between all atoms; what it does between two that exclude each other is taken
// away with the pairs of the list, which end at rcoulomb. So no such pair may be farther apart.
#pragma once

#include "base/box.hpp"
#include "base/vec3.hpp"
#include "model/topology.hpp"

#include <cstdint>
#include <vector>

namespace parhelion {

struct ExcludedPair
{
    double distance = 0;         // nm, of the nearest images
    std::int64_t a = -1, b = -1; // global; -1: nothing is excluded
};

// The two atoms that exclude each other and are farthest apart, of molecules of these types alone (empty: of all). x and box in
// nm, input order. Cost: a look at every excluded pair.
ExcludedPair longest_excluded_pair(const Topology& topology, const std::vector<Vec3<double>>& x, const Box<double>& box,
                                   const std::vector<bool>& of_types = {});

// By molecule type: may a pair that it excludes come farther apart than the cut-off (nm)? Not if bonds and constraints lead from
// one to the other that are shorter even when stretched by a fifth.
std::vector<bool> types_with_loose_exclusions(const Topology& topology, double cutoff);

} // namespace parhelion
