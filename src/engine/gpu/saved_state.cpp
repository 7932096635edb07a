// SPDX-License-Identifier: Apache-2.0
#include "engine/gpu/saved_state.hpp"

#include "engine/coupling_values.hpp"

namespace parhelion {

template <class N>
SavedState to_saved_state(GpuQueue& queue, const GpuSnapshot<N>& snapshot, std::int64_t seed)
{
    SavedState saved;
    saved.x = snapshot.x.to_vector(queue);
    saved.v = snapshot.v.to_vector(queue);
    const DeviceScalars scalars = snapshot.scalars.to_vector(queue)[0];
    saved.step = scalars.step;
    saved.seed = seed;
    saved.box = scalars.box;
    write_coupling(snapshot.coupling.download(queue), saved);
    return saved;
}

#define PARHELION_INSTANTIATE(N) template SavedState to_saved_state<N>(GpuQueue&, const GpuSnapshot<N>&, std::int64_t);
PARHELION_FOR_EACH_NUMERICS(PARHELION_INSTANTIATE)

} // namespace parhelion
