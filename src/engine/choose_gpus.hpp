// SPDX-License-Identifier: Apache-2.0
// How many of a host's GPUs a run uses, and the grid of its ranks.
//
// The idea: a step on one GPU costs a fixed time and a time per atom. Several share the atoms, and exchange halos and sums, which
// costs more the more they are; a small system is faster on one. The times are a fit to measurements (bench/gpu/scaling) good
// to a tenth where there are any, and choose; who wants another number asks for it. No GPU is used that the box has no cell for.
#pragma once

#include "domain/cell_grid.hpp"
#include "engine/simulation.hpp"

#include <cstdint>
#include <string>

namespace parhelion {

// Time of a step, us.
double predicted_step(std::int64_t atoms, int gpus, HaloMethod halo);

struct GpuChoice
{
    int gpus = 1;
    CellGrid grid;
    std::string remark; // why others that are here or were asked for are not used; empty: nothing to say
};

// `there` GPUs can be used. With a grid or a number of ranks in the options, as many GPUs as have a rank; else a rank on each of
// options.gpus, or without that of those that make a step of so many atoms fastest: all of them, or a power of two. Throws
// InputError E004 if more GPUs are asked for than there are, E630 for a number of ranks that fits no grid; a given grid is taken
// as it is.
GpuChoice choose_gpus(const SimulationOptions& options, int there, std::int64_t atoms, const Vec3<double>& box,
                      const GridCriteria& criteria);

} // namespace parhelion
