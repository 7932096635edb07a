// SPDX-License-Identifier: Apache-2.0
#include "interactions/pair/gpu/nonbonded_gpu_launch.cuh"

namespace parhelion::nonbonded_gpu {

template void run_lj_mesh_kernel<MixedReproducible>(GpuQueue&, const LjMeshArguments<MixedReproducible>&, int, Compute, LjRule);

} // namespace parhelion::nonbonded_gpu
