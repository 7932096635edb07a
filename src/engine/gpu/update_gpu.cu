// SPDX-License-Identifier: Apache-2.0
// The update of a rank on a GPU. It also exchanges halos if the halo method allows it (halo/gpu/copies.hpp).
#include "dynamics/gpu/update_launch.cuh"
#include "halo/gpu/copies.cuh"

namespace parhelion {

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void GpuUpdate::step(GpuQueue&, const UpdateArgs<N, CopyTask<N>>&, GpuState<N>&) const;                             \
    template void GpuUpdate::try_step(GpuQueue&, const UpdateArgs<N, CopyTask<N>>&, GpuState<N>&) const;                         \
    template void GpuUpdate::to_full_step(GpuQueue&, const UpdateArgs<N, CopyTask<N>>&, GpuState<N>&) const;                     \
    template void GpuUpdate::go_back(GpuQueue&, const UpdateArgs<N, CopyTask<N>>&, GpuState<N>&) const;                          \
    template void GpuUpdate::to_rest(GpuQueue&, const UpdateArgs<N, CopyTask<N>>&, GpuState<N>&) const;                          \
    template void GpuUpdate::reconstrain(GpuQueue&, std::int64_t, FailureReport*, const CopyTask<N>&, GpuState<N>&) const;       \
    template bool GpuUpdate::leaves_free_places<N, CopyTask<N>>(const GpuQueue&) const;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
