// SPDX-License-Identifier: Apache-2.0
// The update of atoms that have no copies, for the tests of this program.
#include "dynamics/gpu/update_launch.cuh"

namespace parhelion {

#define PARHELION_INSTANTIATE(N)                                                                                                 \
    template void GpuUpdate::step(GpuQueue&, const UpdateArgs<N, NoCopies>&, GpuState<N>&) const;                                \
    template void GpuUpdate::to_full_step(GpuQueue&, const UpdateArgs<N, NoCopies>&, GpuState<N>&) const;                        \
    template void GpuUpdate::go_back(GpuQueue&, const UpdateArgs<N, NoCopies>&, GpuState<N>&) const;                             \
    template void GpuUpdate::reconstrain(GpuQueue&, std::int64_t, FailureReport*, const NoCopies&, GpuState<N>&) const;
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
