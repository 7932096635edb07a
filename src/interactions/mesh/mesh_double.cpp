// SPDX-License-Identifier: Apache-2.0
// The mesh kernels in double. Each precision has its own file, so that they compile in parallel.
#include "pairs/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "interactions/mesh/mesh_double.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep
#include "hwy/highway.h"

#define PARHELION_MESH_FAST Double
#define PARHELION_MESH_REPRODUCIBLE DoubleReproducible
#include "interactions/mesh/mesh_entry-inl.hpp"
