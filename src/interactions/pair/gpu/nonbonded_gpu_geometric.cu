// SPDX-License-Identifier: Apache-2.0
#include "interactions/pair/gpu/nonbonded_gpu_launch.cuh"

namespace parhelion::nonbonded_gpu {

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void run_kernel<N, LjRule::Geometric>(GpuQueue&, const Arguments<N>&, int, Compute);                                \
    template void run_kernel<N, LjRule::Geometric>(GpuQueue&, const LjMeshArguments<N>&, int, Compute);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion::nonbonded_gpu
