// SPDX-License-Identifier: Apache-2.0
// How long an exchange takes by itself: positions out, forces back, on ranks that do nothing else. What `parhelion bench halo`
// reports.
//
// The halo is a real one, built from atoms at random places at the density of liquid water, as by a run whose pair list reaches
// 1.2 nm. Cost: memory of the whole box, some 150 bytes an atom.
#pragma once

#include "halo/method.hpp"

#include <array>
#include <cstdint>

namespace parhelion {

struct HaloTimingOptions
{
    int ranks = 2;
    int threads = 1; // of each rank
    HaloMethod method = HaloMethod::Direct;
    std::int64_t halo_atoms = 10000; // of a rank, wanted; the smallest halo that a grid allows may be larger
    int exchanges = 200;             // timed, after a tenth as many that are not
};

struct HaloTiming
{
    std::array<int, 3> grid{1, 1, 1};
    int messages = 0;          // of a rank, each way
    double halo_atoms = 0;     // of a rank, mean; with fillers, which travel too
    double bytes = 0;          // sent by a rank, both ways
    double median_us = 0;      // of one coordinate + force exchange, rank 0
    double worst_tenth_us = 0; // nine of ten took less
};

// Throws InputError E630 if no grid of these ranks fits a box of the size that would have such halos.
HaloTiming time_halo(const HaloTimingOptions& options);

} // namespace parhelion
