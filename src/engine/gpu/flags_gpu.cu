// SPDX-License-Identifier: Apache-2.0
#include "engine/gpu/flags_gpu.hpp"

#include "comm/gpu/collectives.cuh"

namespace parhelion {

template void all_reduce<FlagsAndBalance>(GpuQueue&, const GpuCollective&, int, FlagsAndBalance*, int);
template void all_reduce_send<FlagsAndBalance>(GpuQueue&, const GpuCollective&, int, const FlagsAndBalance*, int);
template void all_reduce_receive<FlagsAndBalance>(GpuQueue&, const GpuCollective&, int, FlagsAndBalance*, int);

} // namespace parhelion
