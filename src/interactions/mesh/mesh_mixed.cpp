// SPDX-License-Identifier: Apache-2.0
// The mesh kernels in float. Each precision has its own file, so that they compile in parallel.
#include "pairs/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "interactions/mesh/mesh_mixed.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep
#include "hwy/highway.h"

#define PARHELION_MESH_FAST Mixed
#define PARHELION_MESH_REPRODUCIBLE MixedReproducible
#include "interactions/mesh/mesh_entry-inl.hpp"
