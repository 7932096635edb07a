// SPDX-License-Identifier: Apache-2.0
// The pair law (pair/pair_law-inl.hpp) for the lanes of a GPU.
#pragma once

#include "interactions/pair/gpu/nonbonded_gpu.hpp"
#include "interactions/pair/gpu/nonbonded_gpu_lanes.cuh"
#include "interactions/pair/pair_law.hpp"

namespace parhelion::nonbonded_gpu {

#define PARHELION_PAIR_LAW __device__ inline
#include "interactions/pair/pair_law-inl.hpp"
#undef PARHELION_PAIR_LAW

// Returns 6 c6 of a pair on the mesh of dispersion (LJ-PME), from NonbondedTables::mesh_type_parameters().
template <class Real>
__device__ Real mesh_c6(LjMeshRule rule, const LjParameters<Real>& i, const LjParameters<Real>& j)
{
    if (rule == LjMeshRule::Geometric) { return i.first * j.first; }
    Real c6, c12;
    combine_lorentz_berthelot<LaneOps<Real>>(i.first, i.second, j.first, j.second, c6, c12);
    return c6;
}

} // namespace parhelion::nonbonded_gpu
